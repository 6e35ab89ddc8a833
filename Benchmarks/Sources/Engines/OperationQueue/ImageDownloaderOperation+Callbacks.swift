import Foundation
import ImageCodecs

extension ImageDownloaderOperation {
    /// Reports progress to all callers immediately.
    func reportProgress(received: Int, expected: Int64) {
        for callbacks in callbacks.current { callbacks.progress?(received, Int(expected)) }
    }

    /// Reports the end to all callers, each on the main queue, and prevents others from joining.
    func reportEnd(image: PixelBuffer? = nil, data: Data? = nil, error: (any Error)? = nil) {
        for callbacks in callbacks.close() {
            DispatchQueue.main.async { callbacks.completed(image, data, error, true) }
        }
    }

    /// Reports a preview to all callers, each on the main queue.
    func reportPreview(_ image: PixelBuffer) {
        for callbacks in callbacks.current {
            DispatchQueue.main.async { callbacks.completed(image, nil, nil, false) }
        }
    }
}
