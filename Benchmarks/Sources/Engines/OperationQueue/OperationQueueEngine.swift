import Foundation
import ImageCodecs

/// The port of SDWebImage 4's downloader, with its blocks converted to awaitable results.
struct OperationQueueEngine: SharingEngine {
    /// A caller's token and the result of its block.
    struct Handle: Sendable {
        let token: DownloadToken?
        let answer: PendingAnswer<Int>
    }

    private let downloader: ImageDownloader

    /// Creates a downloader with the original's default of six transfers, and without an option for certificate
    /// authorities.
    init(_ options: EngineOptions) {
        downloader = ImageDownloader(maximumConcurrentDownloads: options.limits?.total ?? 6)
    }

    func fetch(_ url: String) async throws -> Int {
        let handle = start(url)
        return try await value(of: handle.answer, cancelling: handle.token)
    }

    func shutdown() {
        downloader.invalidate()
    }

    func start(_ url: String) -> Handle {
        let answer = PendingAnswer<Int>()
        let token = download(url, options: DownloadOptions(decodes: false), into: answer) { _, data in data?.count }
        return Handle(token: token, answer: answer)
    }

    func value(of handle: Handle) async throws -> Int {
        try await handle.answer.value
    }

    /// Cancels the caller and sets its result, because the downloader does not notify a canceled caller.
    func cancel(_ handle: Handle) {
        handle.answer.resolve(.failure(CancellationError()))
        if let token = handle.token { downloader.cancel(token) }
    }

    var callerCount: Int { downloader.callerCount }

    var downloadCount: Int { downloader.downloadQueue.operationCount }
}

extension OperationQueueEngine: ImageEngine {
    func image(_ url: String, maximumSide: Int) async throws -> PixelSize {
        let answer = PendingAnswer<PixelSize>()
        let token = download(url, options: DownloadOptions(maximumSide: maximumSide), into: answer) { image, _ in
            image?.size
        }
        return try await value(of: answer, cancelling: token)
    }
}

extension OperationQueueEngine: ProgressiveEngine {
    func progressiveImage(
        _ url: String, onPreview: @escaping @Sendable (PixelBuffer) -> Void
    ) async throws -> PixelSize {
        let answer = PendingAnswer<PixelSize>()
        let token = download(
            url, options: DownloadOptions(isProgressive: true), into: answer, onPreview: onPreview
        ) { image, _ in
            image?.size
        }
        return try await value(of: answer, cancelling: token)
    }
}

extension OperationQueueEngine {
    /// Starts a download and resolves `answer` with the result of `value` for its outcome.
    private func download<Value>(
        _ url: String, options: DownloadOptions, into answer: PendingAnswer<Value>,
        onPreview: (@Sendable (PixelBuffer) -> Void)? = nil,
        value: @escaping @Sendable (PixelBuffer?, Data?) -> Value?
    ) -> DownloadToken? {
        guard let parsed = URL(string: url) else {
            answer.resolve(.failure(EngineError.invalidURL(url)))
            return nil
        }
        return downloader.download(parsed, options: options) { image, data, error, finished in
            if !finished {
                if let image { onPreview?(image) }
            } else if let value = value(image, data) {
                answer.resolve(.success(value))
            } else {
                answer.resolve(.failure(error ?? EngineError.noImage))
            }
        }
    }

    /// Returns the result, or cancels the caller if the task is canceled.
    private func value<Value>(of answer: PendingAnswer<Value>, cancelling token: DownloadToken?) async throws -> Value {
        try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resolve(.failure(CancellationError()))
            if let token { downloader.cancel(token) }
        }
    }
}
