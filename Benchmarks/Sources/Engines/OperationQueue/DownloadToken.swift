import Foundation

/// The token with which a caller of ``ImageDownloader`` cancels.
struct DownloadToken: Sendable {
    let url: URL
    let callbacks: DownloadCallbacks
}
