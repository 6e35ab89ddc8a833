import HTTPTransport
import HTTPTypes
import ResponseCache

/// Answers requests with bytes, or with the pieces of an asynchronous sequence.
struct ContentResponder: Responder {
    private let open: @Sendable (HTTPURL) async throws -> IncomingResponse

    /// Creates a responder for the bytes that a closure returns.
    init(bytes: @escaping @Sendable (HTTPURL) async throws -> (bytes: [UInt8], mediaType: String?)) {
        open = { url in
            let (bytes, mediaType) = try await bytes(url)
            return IncomingResponse(url, length: bytes.count, type: mediaType, body: WholeBody(bytes))
        }
    }

    /// Creates a responder for the pieces of the sequence that a closure returns.
    init<Pieces: AsyncSequence & SendableMetatype>(pieces: @escaping @Sendable (HTTPURL) async throws -> Pieces)
    where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        open = { url in IncomingResponse(url, body: PieceSequence(try await pieces(url), of: url)) }
    }

    func response(to request: TransportRequest) async throws -> IncomingResponse {
        do {
            return try await open(request.url)
        } catch {
            throw TransportError.ofSource(error, request.url)
        }
    }
}

extension IncomingResponse {
    /// Creates the response of a source.
    init(
        _ url: HTTPURL, status: HTTPResponse.Status = .ok, length: Int? = nil, type: String? = nil,
        entityTag: String? = nil, body: any BodySource
    ) {
        var fields = HTTPFields()
        fields[.contentLength] = length.map(String.init)
        fields[.contentType] = type
        fields[.eTag] = entityTag
        let head = ResponseHead(response: HTTPResponse(status: status, headerFields: fields), url: url)
        self.init(head: head, source: .source, body: body)
    }
}

/// A body that is in memory.
final class WholeBody: BodySource {
    private var bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var metrics: TransferMetrics { TransferMetrics() }

    func next() async throws -> [UInt8]? {
        defer { bytes = [] }
        return bytes.isEmpty ? nil : bytes
    }
}
