import HTTPTransport
import HTTPTypes
import ImageCodecs
import ResponseCache

/// A decode of a file that no download delivers: from memory, or from an asynchronous sequence.
struct FileDecode: Sendable {
    private let log = BodyLog(maximumReplayBytes: 0)
    private let session: DecodeSession<BodyReader>
    private let url: HTTPURL
    /// Delivers the file; `nil` if the log has all of it.
    private let feed: (@Sendable () async -> Void)?

    /// The origin of the bytes received so far.
    private var origin: ResponseOrigin {
        ResponseOrigin(head: Self.head(url), source: .source, byteCount: log.received, metrics: nil)
    }

    /// Creates a decode of a file in memory.
    init(_ bytes: [UInt8], _ decoder: ImageDecoder, _ options: DecodeOptions) throws {
        url = HTTPURL(ofSource: "\(RequestContent.scheme):bytes", scheme: RequestContent.scheme)
        session = try Self.session(log, decoder, options)
        log.begin(expecting: bytes.count)
        if !bytes.isEmpty { _ = log.append(whole: bytes) }
        log.finish(.success(Delivery(head: Self.head(url), metrics: TransferMetrics())))
        feed = nil
    }

    /// Creates a decode of a file that arrives in pieces; a consumer of `frames` gets previews.
    ///
    /// With `limitsReadAhead`, few pieces are requested before the decode has read the ones before.
    init<Pieces: AsyncSequence & Sendable>(
        pieces: Pieces, _ decoder: ImageDecoder, _ options: DecodeOptions, limitsReadAhead: Bool = false,
        policy: PreviewPolicy = PreviewPolicy(selection: .none), frames: FrameHub<ImagePreview> = FrameHub()
    ) throws where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        let url = HTTPURL(ofSource: "\(RequestContent.scheme):pieces", scheme: RequestContent.scheme)
        self.url = url
        session = try Self.session(log, decoder, options, policy, frames, limitsReadAhead: limitsReadAhead)
        log.begin(expecting: nil)
        let pause = FeedPause()
        log.attach(pause)
        feed = { [log] in
            do {
                try await Self.feed(log, with: PieceSequence(pieces, of: url), pause)
                log.finish(.success(Delivery(head: Self.head(url), metrics: TransferMetrics())))
            } catch let error as TransportError {
                log.finish(.failure(.transport(error)))
            } catch {
                log.finish(.failure(.transport(TransportError(url: url.string, reason: .cancelled))))
            }
        }
    }

    private static func session(
        _ log: BodyLog, _ decoder: ImageDecoder, _ options: DecodeOptions,
        _ policy: PreviewPolicy = PreviewPolicy(selection: .none), _ frames: FrameHub<ImagePreview> = FrameHub(),
        limitsReadAhead: Bool = false
    ) throws -> DecodeSession<BodyReader> {
        // Nothing has been discarded yet.
        guard let reader = log.makeReader(limitsReadAhead: limitsReadAhead) else { throw CancellationError() }
        return DecodeSession(reader: reader, decoder: decoder, options: options, policy: policy, frames: frames)
    }

    private static func head(_ url: HTTPURL) -> ResponseHead {
        ResponseHead(response: HTTPResponse(status: .ok), url: url)
    }

    /// Makes a waiting decode look whether a preview is wanted.
    func wake() { session.reader.wake() }

    /// Returns the final frame of a stream of previews.
    func finalFrame() async throws -> ImagePreview {
        let image = try await run { try await $0.run() }
        return ImagePreview(final: ImageResponse(image: image, origin: origin))
    }

    /// Runs a decode while the file is delivered, which ends with the decode.
    func run<Value: Sendable>(_ decode: (DecodeSession<BodyReader>) async throws -> Value) async throws -> Value {
        do {
            guard let feed else { return try await decode(session) }
            // Not a child task: a sequence that ignores cancellation must not hold back the result.
            let feeding = Task { await feed() }
            defer { feeding.cancel() }
            return try await decode(session)
        } catch {
            throw ImageError.wrapping(error, url: url.string)
        }
    }

    private static func feed(_ log: BodyLog, with body: some BodySource, _ pause: FeedPause) async throws {
        var resumptions = pause.resumptions.makeAsyncIterator()
        while let piece = try await body.next() {
            // The next element may be outdated: then the piece is rejected again.
            while case .pause = log.append(piece.span) {
                if await resumptions.next() == nil { throw CancellationError() }
            }
        }
    }
}

/// Lets the delivery of pieces continue when the decode has caught up.
private final class FeedPause: Transfer {
    let (resumptions, resumption) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    func cancel() {}

    func resume() { resumption.yield() }
}
