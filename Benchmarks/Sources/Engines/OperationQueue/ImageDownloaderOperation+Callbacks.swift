import Foundation
import ImageCodecs

extension ImageDownloaderOperation {
    /// Tells everybody how far it is, on the spot.
    func reportProgress(received: Int, expected: Int64) {
        for callbacks in callbacks.current { callbacks.progress?(received, Int(expected)) }
    }

    /// Tells everybody the end, each on the main queue, and lets nobody join any more.
    func reportEnd(image: PixelBuffer? = nil, data: Data? = nil, error: (any Error)? = nil) {
        for callbacks in callbacks.close() {
            DispatchQueue.main.async { callbacks.completed(image, data, error, true) }
        }
    }

    /// Shows what has come so far.
    func reportPreview(_ image: PixelBuffer) {
        for callbacks in callbacks.current {
            DispatchQueue.main.async { callbacks.completed(image, nil, nil, false) }
        }
    }
}
