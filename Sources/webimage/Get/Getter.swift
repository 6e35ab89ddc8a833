import AsyncWebImage

/// Takes one image from its source to its file.
struct Getter: Sendable {
    let loader: ImageLoader
    let traffic: Traffic
    let folder: OutputFolder
    let plan: OutputPlan
    let workers: Workers

    /// What became of `source`.
    ///
    /// Throws only if the task was cancelled.
    func get(_ source: ImageSource) async throws(CancellationError) -> Outcome {
        let clock = ContinuousClock()
        let start = clock.now
        var outcome = Outcome(url: source.text)
        do {
            try await get(source, into: &outcome)
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            outcome.error = Self.message(for: error)
            outcome.httpStatus = (error as? ImageError)?.httpStatus
        }
        if case .url(let url) = source.place {
            outcome.httpStatus = traffic.flow(of: url)?.status ?? outcome.httpStatus
            traffic.forget(url)
        }
        outcome.milliseconds = Int((clock.now - start) / .milliseconds(1))
        return outcome
    }

    private func get(_ source: ImageSource, into outcome: inout Outcome) async throws {
        let file: EncodedImage
        switch (plan.way, source.place) {
        case (.converted(let format), .url(let url)):
            let response = try await loader.image(for: ImageRequest(url, options: plan.options))
            outcome.describe(response.image)
            outcome.source = response.source.rawValue
            file = try await encoded(response.pixels, as: format)
        case (.converted(let format), .file(let path)):
            let options = plan.options
            let image = try await workers.run { try ImageFile(path: path).decoded(options: options) }
            outcome.describe(image)
            outcome.source = "file"
            file = try await encoded(image.pixels, as: format)
        case (_, .url(let url)):
            let data = try await loader.data(for: ImageRequest(url))
            outcome.source = data.source.rawValue
            file = try await checked(data.bytes, into: &outcome)
        case (_, .file(let path)):
            let bytes = try await workers.run { try ImageFile(path: path).bytes() }
            outcome.source = "file"
            file = try await checked(bytes, into: &outcome)
        }
        try Task.checkCancellation()
        let name = FileName(source: source.text, suffix: file.format.fileExtension)
        outcome.path = try await workers.run { [folder] in try folder.write(file.bytes, as: name) }
        outcome.bytes = file.bytes.count
    }

    private struct EncodedImage: Sendable {
        let bytes: [UInt8]
        let format: ImageFormat
    }

    private func encoded(_ pixels: PixelBuffer, as format: ImageFormat?) async throws -> EncodedImage {
        let quality = plan.quality
        return try await workers.run {
            let format = format ?? (pixels.isOpaque ? .jpeg : .png)
            return EncodedImage(bytes: try pixels.encoded(as: format, quality: quality), format: format)
        }
    }

    /// The bytes as they came, after their header was read and, unless told not to, their pixels decoded.
    private func checked(_ bytes: [UInt8], into outcome: inout Outcome) async throws -> EncodedImage {
        let way = plan.way
        let header = try await workers.run {
            if way == .verified {
                // Small, which is fast, and reads the file to its end all the same.
                _ = try StreamingDecoder.decode(bytes.span, options: DecodeOptions(target: .maximumSide(64)))
            }
            return try ImageHeader(wholeFile: bytes)
        }
        outcome.describe(header)
        return EncodedImage(bytes: bytes, format: header.format)
    }

    static func message(for error: any Error) -> String {
        guard let error = error as? any CustomStringConvertible else { return "\(error)" }
        return error.description
    }
}

extension Outcome {
    fileprivate mutating func describe(_ image: DecodedImage) {
        describe(image.header)
        width = image.pixels.width
        height = image.pixels.height
        originalWidth = image.originalSize.width
        originalHeight = image.originalSize.height
    }

    fileprivate mutating func describe(_ header: ImageHeader) {
        format = header.format.rawValue
        frames = header.frameCount
        (width, height) = (header.size.width, header.size.height)
        (originalWidth, originalHeight) = (width, height)
    }
}
