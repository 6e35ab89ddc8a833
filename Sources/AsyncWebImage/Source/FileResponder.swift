import HTTPSemantics
import HTTPTransport
import HTTPTypes
import ResponseCache

/// Answers requests for `file:` URLs with the files of a folder, which are read on threads of its own.
struct FileResponder: Responder {
    private let folder: String
    private let threads = CacheThreads(named: "webimage-files")

    init(folder: String) {
        self.folder = folder
    }

    func response(to request: TransportRequest) async throws -> IncomingResponse {
        let url = request.url
        guard let path = Self.path(of: url) else {
            throw TransportError(
                url: url.string, reason: .sourceFailed,
                detail: "a file URL names a file of this machine: file:///path")
        }
        let file = try await threads.run { [folder] in
            Result { () throws(ReadableFile.Failure) in try ReadableFile(path, under: folder) }
        }.get(for: url)
        // Weak: a file can be written twice within the precision of its time.
        let tag = "W/\"\(file.version)\""
        if let known = request.headerFields[.ifNoneMatch], IfNoneMatchField(known).matches(tag) {
            return IncomingResponse(url, status: .notModified, entityTag: tag, body: WholeBody([]))
        }
        guard file.count <= request.maximumBodyBytes else {
            throw TransportError(url: url.string, reason: .bodyTooLarge(limit: request.maximumBodyBytes))
        }
        return IncomingResponse(
            url, length: file.count, entityTag: tag, body: FileBody(file, of: url, on: threads))
    }

    /// Returns the absolute path that a `file:` URL names; `nil` if it names none of this machine.
    private static func path(of url: HTTPURL) -> [UInt8]? {
        guard url.host.isEmpty || url.host.lowercased() == "localhost" else { return nil }
        let path = PercentEncoding.decoded(url.path.utf8)
        // The system would take the part before a NUL as the path.
        return path.first == UInt8(ascii: "/") && !path.contains(0) ? path : nil
    }
}

/// The body of a response that is a file.
private final class FileBody: BodySource {
    private let file: ReadableFile
    private let url: HTTPURL
    private let threads: CacheThreads
    private var position = 0

    init(_ file: ReadableFile, of url: HTTPURL, on threads: CacheThreads) {
        (self.file, self.url, self.threads) = (file, url, threads)
    }

    var metrics: TransferMetrics { TransferMetrics() }

    func next() async throws -> [UInt8]? {
        try Task.checkCancellation()
        guard position < file.count else { return nil }
        // Small files do not wait for large ones.
        let lane: CacheThreads.Lane = file.count <= ReadableFile.maximumPiece ? .short : .long
        let bytes = try await threads.run(to: lane) { [file, position] in
            Result { () throws(ReadableFile.Failure) in try file.read(from: position) }
        }.get(for: url)
        guard !bytes.isEmpty else {
            throw TransportError(
                url: url.string, reason: .truncated(expected: file.count, received: position),
                detail: "the file has become shorter")
        }
        position += bytes.count
        return bytes
    }
}

extension Result where Failure == ReadableFile.Failure {
    /// Returns the value, or throws the error of the transfer of `url`.
    fileprivate func get(for url: HTTPURL) throws(TransportError) -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let failure):
            throw TransportError(url: url.string, reason: failure.reason, detail: failure.detail)
        }
    }
}
