import AsyncWebImage

/// Takes one image from its source to its file.
struct Getter: Sendable {
    let loader: ImageLoader
    let traffic: Traffic
    let folder: OutputFolder
    /// Where previews are written, if they are.
    var previews: OutputFolder?
    let plan: OutputPlan
    let workers: Workers

    /// What became of `source`.
    ///
    /// Throws only if the task was cancelled.
    func get(_ source: ImageSource) async throws(CancellationError) -> Outcome {
        let clock = ContinuousClock()
        let start = clock.now
        var outcome = Outcome(url: source.text)
        if case .url(let url) = source.place { traffic.follow(url) }
        defer { if case .url(let url) = source.place { traffic.forget(url) } }
        do {
            async let previews: Void = writePreviews(of: source)
            try await get(source, into: &outcome)
            try await previews
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            outcome.error = Self.message(for: error)
            outcome.httpStatus = (error as? ImageError)?.httpStatus
        }
        if case .url(let url) = source.place {
            outcome.httpStatus = traffic.flow(of: url)?.status ?? outcome.httpStatus
        }
        outcome.milliseconds = Int((clock.now - start) / .milliseconds(1))
        return outcome
    }

    /// Writes what can be shown while the image arrives, from the same download.
    private func writePreviews(of source: ImageSource) async throws {
        guard let previews, case .url(let url) = source.place else { return }
        var number = 0
        var options = plan.options
        options.keepsProfile = false  // they are written without
        do {
            for try await frame in loader.frames(for: ImageRequest(url, options: options)) where !frame.isFinal {
                number += 1
                let name = FileName.preview(number, source: source.text)
                _ = try await workers.run { try previews.write(frame.pixels.encoded(as: .png), as: name) }
            }
        } catch is ImageError {
            // Whoever gets the image itself will say so.
        }
    }

    private func get(_ source: ImageSource, into outcome: inout Outcome) async throws {
        let file: EncodedImage
        switch (plan.way, source.place) {
        case (.converted(let format), .url(let url)):
            file = try await converted(url, as: format, into: &outcome)
        case (.converted(let format), .file(let path)):
            let options = plan.options
            outcome.source = "file"
            if plan.keepsAnimations {
                let animation = try await workers.run { try ImageFile(path: path).animation(options: options) }
                file = try await encoded(animation, as: format, into: &outcome)
            } else {
                let image = try await workers.run { try ImageFile(path: path).decoded(options: options) }
                outcome.describe(image)
                file = try await encoded(image.pixels, profile: image.iccProfile, as: format)
            }
        case (_, .url(let url)):
            do {
                let data = try await loader.data(for: ImageRequest(url))
                outcome.source = data.source.rawValue
                file = try await checked(data.bytes, into: &outcome)
            } catch ImageError.transport(_) where plan.options.allowsPartial {
                file = try await converted(url, as: nil, into: &outcome)
            }
        case (_, .nowhere(let reason)):
            throw FileError(description: reason)
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

    private func converted(
        _ url: String, as format: ImageFormat?, into outcome: inout Outcome
    ) async throws -> EncodedImage {
        let request = ImageRequest(url, options: plan.options)
        if plan.keepsAnimations {
            let response = try await loader.animation(for: request)
            outcome.source = response.source.rawValue
            return try await encoded(response.animation, as: format, into: &outcome)
        }
        let response = try await loader.image(for: request)
        outcome.describe(response.image)
        outcome.source = response.source.rawValue
        return try await encoded(response.pixels, profile: response.image.iccProfile, as: format)
    }

    private struct EncodedImage: Sendable {
        let bytes: [UInt8]
        let format: ImageFormat
    }

    private func encoded(
        _ pixels: PixelBuffer, profile: [UInt8]?, as format: ImageFormat?
    ) async throws -> EncodedImage {
        let plan = plan
        let metadata = ImageMetadata(colorProfile: profile)
        return try await workers.run {
            let format = format ?? (pixels.isOpaque ? .jpeg : .png)
            let bytes = try pixels.encoded(with: try plan.encoding(format), metadata: metadata)
            return EncodedImage(bytes: bytes, format: format)
        }
    }

    private func encoded(
        _ animation: AnimatedImage, as format: ImageFormat?, into outcome: inout Outcome
    ) async throws -> EncodedImage {
        outcome.describe(animation)
        guard animation.frameCount > 1 else {
            let pixels = try await workers.run { try AnimationDecoder(animation).frame(at: 0) }
            return try await encoded(pixels, profile: animation.iccProfile, as: format)
        }
        let plan = plan
        let (file, isPartial) = try await workers.run {
            let format = format ?? animation.header.format
            let metadata = ImageMetadata(colorProfile: animation.iccProfile)
            let decoder = AnimationDecoder(animation, windowBytes: 0)
            let bytes = try decoder.encoded(with: try plan.encoding(format), metadata: metadata)
            return (EncodedImage(bytes: bytes, format: format), !decoder.partialFrames.isEmpty)
        }
        if isPartial { outcome.isPartial = true }
        return file
    }

    /// The bytes as they came, after their header was read and, unless told not to, their pixels decoded; of what is partial
    /// and may be, the pixels.
    private func checked(_ bytes: [UInt8], into outcome: inout Outcome) async throws -> EncodedImage {
        do {
            return try await whole(bytes, into: &outcome)
        } catch is CodecError where plan.options.allowsPartial {
            let options = plan.options
            let image = try await workers.run { try AnimatedImage(bytes, options: options) }
            return try await encoded(image, as: nil, into: &outcome)
        }
    }

    private func whole(_ bytes: [UInt8], into outcome: inout Outcome) async throws -> EncodedImage {
        let way = plan.way
        let header = try await workers.run {
            if way == .verified {
                // Stills small, which is fast, and reads the file to its end all the same.
                let isMoving = try ImageHeader.probe(bytes.span)?.mayBeAnimated == true
                let options = DecodeOptions(
                    target: isMoving ? .original : .maximumSide(64), keepsProfile: true)
                let animation = try AnimatedImage(bytes, options: options)
                let decoder = AnimationDecoder(animation, windowBytes: 0)
                for index in 0..<animation.frameCount { _ = try decoder.frame(at: index) }
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
        isPartial = image.isPartial
        width = image.pixels.width
        height = image.pixels.height
        originalWidth = image.originalSize.width
        originalHeight = image.originalSize.height
    }

    fileprivate mutating func describe(_ animation: AnimatedImage) {
        describe(animation.header)
        isPartial = animation.isPartial
        (width, height) = (animation.size.width, animation.size.height)
        (originalWidth, originalHeight) = (animation.originalSize.width, animation.originalSize.height)
    }

    fileprivate mutating func describe(_ header: ImageHeader) {
        format = header.format.identifier
        frames = header.frameCount
        (width, height) = (header.size.width, header.size.height)
        (originalWidth, originalHeight) = (width, height)
    }
}
