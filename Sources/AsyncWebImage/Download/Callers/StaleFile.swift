import HTTPTransport
import ResponseCache

/// A stored file about which the origin must be asked.
struct StaleFile: Sendable {
    let file: EncodedFile
    let result: StoredResult
    let cache: ResponseCache
    /// The request for the image, which does not ask about the file.
    let fetch: FetchKey
    /// Adds a caller to a download.
    let join: @Sendable (Subscriber) -> Void

    /// Returns the file, whose response the origin has confirmed by a 304; `nil` if the 304 is for another response.
    func confirmed(by head: ResponseHead) -> ImageFile? {
        cache.confirm(result, by: head).map { ImageFile(file, origin: $0.origin) }
    }
}
