/// The collection of a whole body, whose digest is computed when it is complete.
///
/// It is not read piece by piece, because a reader would keep the pieces in memory beside the whole.
struct BodyCollection: Sendable {
    private let log: BodyLog
    private let digest: SharedDigest
    private let decoder: ImageDecoder
    private let body = OneShot<ResponseBody>()

    /// Begins to collect; `nil` if the beginning of the body has been discarded.
    init?(_ log: BodyLog, digest: SharedDigest, decoder: ImageDecoder) {
        (self.log, self.digest, self.decoder) = (log, digest, decoder)
        guard log.collect(for: body, isJoined: false) else { return nil }
    }

    /// Returns the body and its digest, which is computed on the decoder's threads.
    ///
    /// Throws the error that ended the download, or `CancellationError`.
    @concurrent func run() async throws -> (data: ResponseBody, digest: BodyDigest?) {
        let data = try await withTaskCancellationHandler {
            try await body.value
        } onCancel: {
            log.removeBodyWaiter(for: body)
            body.resolve(.failure(CancellationError()))
        }
        // The body has ended, so it cannot start over.
        let end = log.lastPosition
        let digest = try await decoder.perform { [digest] () throws(ImageError) in
            try digest.add([data.bytes], upTo: end)
            return try digest.value()
        }
        return (data, digest)
    }
}
