import ImageCodecs

// An animation is not decoded here: its frames are found as they come, and decoded by whoever shows them.
extension DecodeSession {
    func readAnimation() async throws -> AnimatedImage {
        let codec = decoder.codec(options)
        var beginning: [[UInt8]] = []
        let plan = try await readHeader(codec) { beginning.append($0) }
        guard codec.header?.mayBeAnimated == true else {
            beginning = []
            return AnimatedImage(still: try await decodeImage(codec, plan: plan))
        }
        var animation = StreamingAnimation(options: options, limits: decoder.configuration.limits)
        do {
            try await read(&animation, beginning)
        } catch let error as BodyRestarted {
            throw error
        } catch {
            // What is complete is shown before the error.
            if let image = animation.image { animations?.publish(image) }
            // The transfer broke off: what had come is a file that ends too early.
            guard error is ImageError, options.allowsPartial, let image = try? await finish(animation, plan) else {
                throw error
            }
            return image
        }
        return try await finish(animation, plan)
    }

    /// What an animation says of itself, read to its end; `beginning` has been read for the header by `codec`.
    func readAnimationInfo(_ beginning: [[UInt8]], _ codec: StreamingDecoder) async throws -> ImageInfo {
        var animation = StreamingAnimation(options: options, limits: decoder.configuration.limits)
        let byteCount = try await read(&animation, beginning)
        let image = try await finish(animation, codec.plan)
        return ImageInfo(header: image.header, byteCount: byteCount, animation: image)
    }

    /// Reads the file to its end and returns how many bytes it had; `beginning` has been read for the header.
    @discardableResult
    private func read(_ animation: inout StreamingAnimation, _ beginning: [[UInt8]]) async throws -> Int {
        var pieces = beginning
        var shownFrames = 0
        var byteCount = 0
        while true {
            for piece in pieces {
                byteCount += piece.count
                try Task.checkCancellation()
                try animation.append(piece.span)
            }
            if let animations, animations.isWanted, animation.frameCount > shownFrames, let image = animation.image {
                shownFrames = image.frameCount
                animations.publish(image)
            }
            guard !animation.needsNoMoreBytes, let next = try await reader.next() else { return byteCount }
            pieces = next
        }
    }

    private func finish(_ animation: StreamingAnimation, _ plan: DecodePlan?) async throws -> AnimatedImage {
        // Of a single frame the image is decoded now.
        try await decoder.withMemory(animation.decodesImageAtEnd ? plan?.estimatedBytes ?? 0 : 0) {
            var animation = animation
            do throws(CodecError) {
                return try animation.finish()
            } catch {
                if let image = animation.image { animations?.publish(image) }
                throw error
            }
        }
    }
}
