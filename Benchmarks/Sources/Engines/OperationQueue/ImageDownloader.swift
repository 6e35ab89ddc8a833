import Foundation

import FoundationNetworking

/// A port of SDWebImage 4's `SDWebImageDownloader` to current Foundation.
///
/// A table behind a barrier queue contains an operation per URL. The downloader is the delegate of a single session,
/// which calls it on one serial queue. Notifications, credentials, background time, and priorities are left out, which
/// improves its results.
///
/// `@unchecked Sendable`: `operations` and `lastAddedOperation` are read on `barrierQueue` and written in its barriers;
/// `session` is set before the object is shared.
final class ImageDownloader: NSObject, @unchecked Sendable {
    /// The order of the waiting downloads.
    enum ExecutionOrder: Sendable {
        case firstInFirstOut
        case lastInFirstOut
    }

    /// The maximum time without a byte, in seconds, which is the original's default.
    static let timeout: TimeInterval = 15

    let downloadQueue = OperationQueue()
    private let executionOrder: ExecutionOrder
    private let barrierQueue = DispatchQueue(label: "downloader", attributes: .concurrent)
    private var operations: [URL: ImageDownloaderOperation] = [:]
    private weak var lastAddedOperation: Operation?
    private var session: URLSession?

    init(maximumConcurrentDownloads: Int = 6, executionOrder: ExecutionOrder = .firstInFirstOut) {
        self.executionOrder = executionOrder
        super.init()
        downloadQueue.maxConcurrentOperationCount = maximumConcurrentDownloads
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = Self.timeout
        configuration.httpMaximumConnectionsPerHost = maximumConcurrentDownloads
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }

    /// Joins the download of `url`, or starts it.
    ///
    /// `completed` is called on the main queue, and `progress` on a background thread. ``cancel(_:)`` calls neither.
    func download(
        _ url: URL, options: DownloadOptions, progress: DownloadCallbacks.Progress? = nil,
        completed: @escaping DownloadCallbacks.Completed
    ) -> DownloadToken {
        let callbacks = DownloadCallbacks(progress: progress, completed: completed)
        barrierQueue.sync(flags: .barrier) {
            if let operation = operations[url], operation.add(callbacks) { return }
            add(makeOperation(for: url, options: options, callbacks: callbacks))
        }
        return DownloadToken(url: url, callbacks: callbacks)
    }

    /// Removes a caller, and stops the download if it was the last one.
    func cancel(_ token: DownloadToken) {
        barrierQueue.async(flags: .barrier) { [self] in
            guard let operation = operations[token.url], operation.cancel(token.callbacks) else { return }
            operations[token.url] = nil
        }
    }

    /// The number of callers waiting for their blocks to be called.
    var callerCount: Int {
        barrierQueue.sync { operations.values.reduce(0) { $0 + $1.callbacks.current.count } }
    }

    /// Cancels all downloads, and invalidates the session, which keeps a reference to its delegate until then.
    func invalidate() {
        downloadQueue.cancelAllOperations()
        session?.invalidateAndCancel()
    }

    private func makeOperation(
        for url: URL, options: DownloadOptions, callbacks: DownloadCallbacks
    ) -> ImageDownloaderOperation {
        var request = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.timeout)
        request.httpShouldHandleCookies = false
        request.setValue("image/webp,image/*;q=0.8", forHTTPHeaderField: "Accept")
        let operation = ImageDownloaderOperation(
            request: request, session: session, options: options, callbacks: callbacks)
        // The original waits for this barrier. On Linux, that blocks the few threads for minutes when many cancel.
        operation.completionBlock = { [weak self, weak operation] in
            guard let self, let operation else { return }
            barrierQueue.async(flags: .barrier) {
                if self.operations[url] === operation { self.operations[url] = nil }
            }
        }
        operations[url] = operation
        return operation
    }

    private func add(_ operation: ImageDownloaderOperation) {
        guard executionOrder == .lastInFirstOut else { return downloadQueue.addOperation(operation) }
        // A queue does not support this order, so every operation waits for the one added after it.
        let previous = lastAddedOperation
        operation.keepUntilFinished(previous)
        downloadQueue.addOperation(operation)
        previous?.addDependency(operation)
        lastAddedOperation = operation
    }
}
