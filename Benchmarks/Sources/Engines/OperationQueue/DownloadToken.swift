import Foundation

/// What a caller of ``ImageDownloader`` cancels by.
struct DownloadToken: Sendable {
    let url: URL
    let callbacks: DownloadCallbacks
}
