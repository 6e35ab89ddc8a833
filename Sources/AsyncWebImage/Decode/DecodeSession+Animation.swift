import ImageCodecs

// Animations are not decoded here: their frames are found as they arrive and decoded on demand.
extension DecodeSession {
    func readAnimation() async throws -> AnimatedImage {
        let codec = decoder.codec(options)
        var beginning: [[UInt8]] = []
        let plan = try await readHeader(codec) { beginning.append($0) }
        guard codec.header?.mayBeAnimated == true else {
            beginning = []
            return AnimatedImage(still: try await decodeImage(codec, plan: plan))
        }
        return try await readAnimation(plan, beginning)
    }

    /// Returns the animation; `beginning` has been read for the header.
    ///
    /// With `isGranted`, memory for an image with a single frame, which is decoded, has been granted.
    func readAnimation(
        _ plan: DecodePlan?, _ beginning: [[UInt8]], isGranted: Bool = false
    ) async throws -> AnimatedImage {
        var animation = decoder.animation(options)
        do {
            try await read(&animation, beginning)
        } catch let error as BodyRestarted {
            throw error
        } catch {
            // Complete frames are shown before the error.
            try? publish(animation.image)
            // The transfer was interrupted: the received part is a file that ends early.
            guard error is ImageError, options.allowsPartial, let image = try? await finish(animation, plan, isGranted)
            else {
                throw error
            }
            return image
        }
        return try await finish(animation, plan, isGranted)
    }

    /// Returns the properties of an animation, read to its end; `codec` has read `beginning` for the header.
    func readAnimationInfo(_ beginning: [[UInt8]], _ codec: StreamingDecoder) async throws -> FileSummary {
        var animation = decoder.animation(options)
        let byteCount = try await read(&animation, beginning)
        let image = try await finish(animation, codec.plan, false)
        return FileSummary(header: image.header, byteCount: byteCount, animation: image)
    }

    /// Reads the file to its end and returns its number of bytes; `beginning` has been read for the header.
    @discardableResult
    private func read(_ animation: inout StreamingAnimation, _ beginning: [[UInt8]]) async throws -> Int {
        reader.body?.setKeepsBytes(true)
        var pieces = beginning
        var shownFrames = 0
        var byteCount = 0
        animation.expectedLength = reader.expectedLength
        while true {
            for piece in pieces {
                byteCount += piece.count
                try Task.checkCancellation()
                try animation.append(piece.span)
            }
            if animations?.isWanted == true, animation.frameCount > shownFrames, let image = animation.image {
                shownFrames = image.frameCount
                try publish(image)
            }
            guard !animation.needsNoMoreBytes, let next = try await reader.next(inBatches: false) else {
                return byteCount
            }
            if let metadata { for piece in next { metadata.append(piece) } }
            pieces = next
        }
    }

    private func finish(
        _ animation: StreamingAnimation, _ plan: DecodePlan?, _ isGranted: Bool
    ) async throws -> AnimatedImage {
        // An image with a single frame is decoded now.
        let isLong = animation.findsFramesAtEnd || animation.decodesImageAtEnd && plan.map(takesLong) == true
        guard !isGranted, animation.decodesImageAtEnd, let plan else {
            return try await onThread(forLongWork: isLong) { try finish(animation) }
        }
        return try await decoder.withMemory(plan.estimatedBytes.saturatingSum(try transformationBytes(plan))) {
            try await onThread(forLongWork: isLong) { try finish(animation) }
        }
    }

    private func finish(_ animation: StreamingAnimation) throws -> AnimatedImage {
        var animation = animation
        let image: AnimatedImage
        do throws(CodecError) {
            image = try animation.finish()
        } catch {
            try? publish(animation.image)
            throw error
        }
        return try transformed(image)
    }

    /// Shows the frames so far to those who wait for them.
    private func publish(_ image: AnimatedImage?) throws {
        guard let animations, let image else { return }
        animations.publish(try transformed(image))
    }
}
