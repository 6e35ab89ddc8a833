import Foundation

import FoundationNetworking

/// A port of SDWebImage 4's `SDWebImageDownloaderOperation`, an asynchronous operation that manages its own state.
///
/// `@unchecked Sendable`: `dataTask`, `imageData`, `expectedSize`, and `dependent` are accessed only while `lock` is
/// held, and `state` only while `stateLock` is held; `session` is set once.
final class ImageDownloaderOperation: Operation, @unchecked Sendable {
    private struct State {
        var isExecuting = false
        var isFinished = false
    }

    let options: DownloadOptions
    let callbacks: DownloadCallbackTable
    private let request: URLRequest
    private weak var session: URLSession?
    /// The lock that replaces the original's `@synchronized(self)`.
    private let lock = NSRecursiveLock()
    private var dataTask: URLSessionDataTask?
    private var imageData = Data()
    private var expectedSize = 0
    private var dependent: Operation?
    /// The lock of `state`, which is not held while observers are notified, because they read the state.
    private let stateLock = NSLock()
    private var state = State()

    init(request: URLRequest, session: URLSession?, options: DownloadOptions, callbacks: DownloadCallbacks) {
        self.request = request
        self.session = session
        self.options = options
        self.callbacks = DownloadCallbackTable(callbacks)
    }

    // MARK: Callers

    /// Adds a caller and returns `true`, or returns `false` if the operation has reported its end.
    func add(_ callbacks: DownloadCallbacks) -> Bool {
        self.callbacks.add(callbacks)
    }

    /// Removes a caller; if no other is left, stops the operation and returns `true`.
    func cancel(_ callbacks: DownloadCallbacks) -> Bool {
        guard self.callbacks.remove(callbacks) else { return false }
        cancel()
        return true
    }

    // MARK: State

    override var isAsynchronous: Bool { true }

    override private(set) var isExecuting: Bool {
        get { stateLock.withLock { state.isExecuting } }
        set {
            willChangeValue(forKey: "isExecuting")
            stateLock.withLock { state.isExecuting = newValue }
            didChangeValue(forKey: "isExecuting")
        }
    }

    override private(set) var isFinished: Bool {
        get { stateLock.withLock { state.isFinished } }
        set {
            willChangeValue(forKey: "isFinished")
            stateLock.withLock { state.isFinished = newValue }
            didChangeValue(forKey: "isFinished")
        }
    }

    override func start() {
        let task: URLSessionDataTask? = lock.withLock {
            guard !isCancelled, let session else { return nil }
            dataTask = session.dataTask(with: request)
            isExecuting = true
            return dataTask
        }
        guard let task else {
            reportEnd(error: URLError(.cancelled))
            return done()
        }
        reportProgress(received: 0, expected: NSURLSessionTransferSizeUnknown)
        task.resume()
    }

    override func cancel() {
        lock.withLock {
            guard !isFinished else { return }
            super.cancel()
            guard let dataTask else { return }
            dataTask.cancel()
            reportEnd(error: URLError(.cancelled))
            // The session's report of the task's end does not reach this operation anymore.
            isExecuting = false
            isFinished = true
            reset()
        }
    }

    private func done() {
        isFinished = true
        isExecuting = false
        lock.withLock { reset() }
    }

    private func reset() {
        dataTask = nil
        imageData = Data()
        dependent = nil
    }

    /// Keeps a reference to the operation that depends on this one.
    ///
    /// Foundation for Linux keeps none, and crashes when it accesses that operation at the end of this one.
    func keepUntilFinished(_ dependent: Operation?) {
        lock.withLock { self.dependent = dependent }
    }

    // MARK: Session events

    /// The identifier of the task that this operation waits for.
    var taskIdentifier: Int? { lock.withLock { dataTask?.taskIdentifier } }

    /// Handles the response head.
    func receive(_ response: URLResponse) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 200
        guard status < 400, status != 304 else {
            lock.withLock { dataTask?.cancel() }
            reportEnd(error: EngineError.status(status))
            return done()
        }
        let expected = Int(max(response.expectedContentLength, 0))
        lock.withLock {
            expectedSize = expected
            // The original reserves any length that the server declares.
            imageData.reserveCapacity(min(expected, 64 << 20))
        }
        reportProgress(received: 0, expected: Int64(expected))
    }

    /// Handles a piece of the body.
    func receive(_ data: Data) {
        let (received, expected) = lock.withLock {
            imageData.append(data)
            return (imageData.count, expectedSize)
        }
        if options.isProgressive, received < expected, let preview = preview(of: lock.withLock { imageData }) {
            reportPreview(preview)
        }
        reportProgress(received: received, expected: Int64(expected))
    }

    /// Handles the end of the transfer, and decodes the image on the session's queue.
    func complete(_ error: (any Error)?) {
        let data = lock.withLock {
            dataTask = nil
            return imageData
        }
        if let error {
            reportEnd(error: error)
        } else if data.isEmpty {
            reportEnd(error: EngineError.noImage)
        } else if !options.decodes {
            reportEnd(data: data)
        } else {
            switch Result(catching: { try image(from: data) }) {
            case .success(let image): reportEnd(image: image, data: data)
            case .failure(let error): reportEnd(error: error)
            }
        }
        done()
    }
}
