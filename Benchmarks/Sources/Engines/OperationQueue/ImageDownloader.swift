import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// SDWebImage 4's `SDWebImageDownloader` in today's Foundation.
///
/// An operation per URL in a table behind a barrier queue; one session, whose delegate this is, and which calls it on
/// one serial queue. Left out, in favor of its figures: notifications, credentials, background time, priorities.
///
/// `@unchecked Sendable`: `operations` and `lastAddedOperation` are touched in barriers of `barrierQueue` only,
/// `session` is set before anybody has the object.
final class ImageDownloader: NSObject, @unchecked Sendable {
    /// The order of the waiting downloads.
    enum ExecutionOrder: Sendable {
        case firstInFirstOut
        case lastInFirstOut
    }

    /// Seconds without a byte, the original's default.
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
    /// The blocks are called on the main queue, progress on the session's; after ``cancel(_:)`` none is called.
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

    /// Removes one caller; the last one stops the download.
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

    /// Stops everything; the session, which keeps its delegate, lets go of it.
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
        // The original waits for this barrier. On Linux that blocks the few threads there are, for minutes when many cancel.
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
        // A queue has no such order: every operation waits for the one that came after it.
        let previous = lastAddedOperation
        operation.keepUntilFinished(previous)
        downloadQueue.addOperation(operation)
        previous?.addDependency(operation)
        lastAddedOperation = operation
    }
}
