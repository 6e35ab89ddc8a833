import ImageCodecs

/// An active decode and its observers.
struct RunningDecode {
    let variant: Variant
    let task: Task<Void, Never>
    /// The position in the body; `nil` if it is collected.
    var reader: BodyReader?
    var frames = FrameHub<ImagePreview>()
    /// The frames of an animation.
    var animations: FrameHub<AnimatedImage>?
    var headerChecks = HeaderChecks()
    /// The file that is made; `nil` for other results.
    var file: FileKey?
    /// The result; `nil` until it ends.
    var result: DecodeResult?

    /// Adds `caller` to the receivers of frames, if it requested previews or animation frames.
    func add(_ caller: Subscriber) {
        switch caller.product {
        case .previews(_, let channel):
            frames.add(channel, id: caller.id)
            channel.onDemand { [reader] in reader?.wake() }
        case .animationFrames(_, let channel):
            animations?.add(channel, id: caller.id)
            channel.onDemand { [reader] in reader?.wake() }
        case .data, .bytes, .info, .image, .animation, .file: break
        }
    }

    func remove(_ id: Subscriber.ID) {
        frames.remove(id)
        animations?.remove(id)
        headerChecks.remove(id)
    }
}

/// The outcome of a decode, and the digest of the body from which it was decoded.
struct DecodeResult: Sendable {
    enum Outcome: Sendable {
        case info(FileSummary)
        case image(DecodedImage)
        case animation(AnimatedImage)
        case file(EncodedFile)
        case data(ResponseBody)
        case failure(any Error)
    }

    let outcome: Outcome
    /// The digest of the complete body; `nil` if none was requested, or the body is incomplete.
    var digest: BodyDigest?

    /// The error of a failure.
    var error: (any Error)? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// A Boolean value that indicates whether callers learn something about the bytes.
    var revealsBody: Bool {
        error == nil || digest != nil
    }

    /// The header of the image; `nil` for a failure, and for a body that was not decoded.
    var header: ImageHeader? {
        switch outcome {
        case .info(let summary): summary.header
        case .image(let image): image.header
        case .animation(let animation): animation.header
        case .file(let file): file.header
        case .data, .failure: nil
        }
    }

    /// Returns the error of a caller that expects another digest; `nil` if it accepts the body.
    func mismatch(for caller: Subscriber, from origin: ResponseOrigin?) -> ImageError? {
        guard let expected = caller.expectedDigest, let digest, digest != expected, let origin else { return nil }
        return .digestMismatch(origin.head, expected: expected, actual: digest, from: origin.source)
    }
}

extension DecodeSession where Input == BodyReader {
    /// Runs the session to its end outside the coordinator, which processes only the end.
    @concurrent func result(_ variant: Variant) async -> DecodeResult {
        while true {
            let outcome = await outcome(variant.content)
            guard variant.digest != nil, !outcome.isFailureOfTransfer else { return DecodeResult(outcome: outcome) }
            do {
                return DecodeResult(outcome: outcome, digest: try await bodyDigest())
            } catch is BodyRestarted {
                continue
            } catch {
                return DecodeResult(outcome: .failure(error))
            }
        }
    }

    private func outcome(_ content: Variant.Content) async -> DecodeResult.Outcome {
        do {
            switch content {
            case .header(let readsAnimation): return .info(try await runHeader(readsAnimation: readsAnimation))
            case .pixels: return .image(try await run())
            case .animation: return .animation(try await runAnimation())
            case .file(let identity): return .file(try await runFile(identity))
            // Nothing of it is decoded.
            case .body: return .failure(CancellationError())
            }
        } catch {
            return .failure(error)
        }
    }
}

extension BodyCollection {
    /// Collects the body outside the coordinator, which processes only the end.
    func result() async -> DecodeResult {
        do {
            let (data, digest) = try await run()
            return DecodeResult(outcome: .data(data), digest: digest)
        } catch {
            return DecodeResult(outcome: .failure(error))
        }
    }
}

extension DecodeResult.Outcome {
    /// A Boolean value that indicates whether there is no complete body, rather than one that cannot be decoded.
    fileprivate var isFailureOfTransfer: Bool {
        guard case .failure(let error) = self else { return false }
        return !(error is CodecError || error is DecodeFailure)
    }
}
