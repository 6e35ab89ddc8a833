import HTTPTransport
import HTTPTypes
import Logging
import Synchronization

/// Makes each download once, however many callers want it, and decides which runs next.
///
/// Every decision (join, leave, start, settle) is one turn of the actor. Bytes and pixels never pass through it.
public actor DownloadCoordinator {
    private let transport: any Transport
    let decoder: ImageDecoder
    let cache: MemoryCache
    private let configuration: DownloadConfiguration
    let policy: ProgressivePolicy
    private let logger: Logger

    private let lastSubscriber = Atomic<Subscriber.ID>(0)
    private var queue: DownloadQueue
    private var isStarting = false
    private var lastDownload: Download.ID = 0
    var downloads: [Download.ID: Download] = [:]
    /// The downloads that callers can join.
    ///
    /// One that nobody waits for is not here any more.
    private var joinable: [FetchKey: Download] = [:]
    var locations: [Subscriber.ID: Download] = [:]
    /// Bytes of all complete bodies whose decodes are under way.
    private var undecodedBytes = 0

    init(
        transport: any Transport, decoder: ImageDecoder, cache: MemoryCache,
        configuration: DownloadConfiguration, policy: ProgressivePolicy, logger: Logger
    ) {
        self.transport = transport
        self.decoder = decoder
        self.cache = cache
        self.configuration = configuration
        self.policy = policy
        self.logger = logger
        queue = DownloadQueue(
            limit: configuration.maximumConcurrentDownloads,
            hostLimit: configuration.maximumConcurrentDownloadsPerHost,
            order: configuration.executionOrder)
    }

    /// What is going on, at one moment.
    public struct Activity: Sendable, Hashable {
        /// Downloads that have a slot.
        public var running: Int
        /// Downloads that wait for one.
        public var waiting: Int
        /// Callers who wait for an answer.
        public var callers: Int

        /// Activity as given.
        public init(running: Int, waiting: Int, callers: Int) {
            self.running = running
            self.waiting = waiting
            self.callers = callers
        }
    }

    /// What is going on right now.
    public var activity: Activity {
        Activity(running: queue.runningCount, waiting: queue.waitingCount, callers: locations.count)
    }

    /// A new identity for a caller; callers are served in its order.
    nonisolated func newSubscriberID() -> Subscriber.ID {
        lastSubscriber.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

// MARK: - Callers come and go

extension DownloadCoordinator {
    /// Lets a caller share the download it wants, starting it if there is none.
    ///
    /// Whoever has cancelled already starts nothing.
    func join(_ subscriber: Subscriber) {
        guard !subscriber.isSettled else { return }
        if case .pixels(let options) = subscriber.variant,
            let known = cache.response(for: VariantKey(fetch: subscriber.key, options: options))
        {
            subscriber.deliver(known.image, byteCount: known.byteCount, from: .memory)
            return
        }
        if let download = joinable[subscriber.key], attach(subscriber, to: download, isJoined: true) { return }
        let download = makeDownload(subscriber)
        _ = attach(subscriber, to: download, isJoined: false)
        queue.enqueue(
            download.id, host: download.key.url.host, priority: subscriber.priority, sequence: subscriber.id)
        startNext()
    }

    /// A caller has cancelled.
    ///
    /// The last one out stops the download.
    nonisolated func leave(_ id: Subscriber.ID) {
        // Cancelling is synchronous: the caller has heard its end already, the books follow.
        Task { await self.remove(id) }
    }

    /// A caller wants its download sooner or later than before.
    func setPriority(_ priority: DownloadPriority, of id: Subscriber.ID) {
        guard let download = locations[id] else { return }
        download.subscribers[id]?.priority = priority
        queue.reprioritize(download.id, to: download.priority)
    }

    private func makeDownload(_ subscriber: Subscriber) -> Download {
        lastDownload += 1
        let download = Download(id: lastDownload, key: subscriber.key, replayLimit: configuration.replayLimit)
        downloads[download.id] = download
        joinable[download.key] = download
        return download
    }

    /// False if the download cannot serve the caller any more, because the beginning of its body is gone.
    private func attach(_ subscriber: Subscriber, to download: Download, isJoined: Bool) -> Bool {
        var subscriber = subscriber
        subscriber.isJoined = isJoined
        switch subscriber.wish {
        case .data(let answer):
            guard download.log.collect() else { return false }
            if case .received(let head, let metrics) = download.state {
                answer.resolve(.success(data(download.log.allBytes(), head, metrics, for: subscriber)))
                download.log.stopCollecting()
                return true
            }
        case .info, .image:
            guard decode(subscriber, from: download) != nil else { return false }
        case .frames(_, let channel):
            guard let decode = decode(subscriber, from: download) else { return false }
            channel.onDemand { [reader = decode.reader] in reader.poke() }
            decode.frames.add(channel, id: subscriber.id)
        }
        download.subscribers[subscriber.id] = subscriber
        locations[subscriber.id] = download
        if isJoined { queue.reprioritize(download.id, to: download.priority) }
        return true
    }

    private func remove(_ id: Subscriber.ID) {
        guard let download = locations.removeValue(forKey: id),
            let subscriber = download.subscribers.removeValue(forKey: id)
        else { return }
        if let variant = subscriber.variant {
            download.decodes[variant]?.frames.remove(id)
            if !download.subscribers.values.contains(where: { $0.variant == variant }) {
                download.decodes.removeValue(forKey: variant)?.task.cancel()
            }
        } else {
            download.log.stopCollecting()
        }
        if download.subscribers.isEmpty {
            abandon(download)
        } else {
            queue.reprioritize(download.id, to: download.priority)
        }
    }
}

// MARK: - Downloads run

extension DownloadCoordinator {
    private func startNext() {
        // A transport that answers at once ends up here again, in the middle of the loop, which goes on by itself.
        guard !isStarting else { return }
        isStarting = true
        defer { isStarting = false }
        while undecodedBytes < max(1, configuration.undecodedLimit), let id = queue.next() {
            downloads[id]?.state = .running
            // Belongs to all callers of the download, so to none of their tasks. Runs up to the transfer in this turn.
            Task.immediate { await self.run(id) }
        }
    }

    private func run(_ id: Download.ID) async {
        if let download = downloads[id], case .running = download.state {
            let end = await transfer(download)
            settle(download, end)
        }
        queue.release(id)
        downloads[id]?.transfer = nil
        startNext()
    }

    private func transfer(_ download: Download) async -> DownloadReceiver.End {
        let request = TransportRequest(
            url: download.key.url,
            headerFields: configuration.headerFields.overridden(by: download.key.headerFields),
            deadlines: configuration.deadlines,
            bodyLimit: configuration.bodyLimit,
            redirectLimit: configuration.redirectLimit)
        return await withCheckedContinuation { continuation in
            let receiver = DownloadReceiver(url: download.key.url.string, log: download.log) { end in
                continuation.resume(returning: end)
            }
            let transfer = transport.start(request, receiver: receiver)
            download.log.attach(transfer)
            download.transfer = transfer
        }
    }

    /// The transfer has ended: those who wait for the bytes get their answer.
    ///
    /// Decodes end by themselves.
    private func settle(_ download: Download, _ end: DownloadReceiver.End) {
        if case .abandoned = download.state { return }
        let waiting = download.removeSubscribers(of: nil)
        for subscriber in waiting { locations[subscriber.id] = nil }
        switch end {
        case .success((let head, let metrics)):
            download.state = .received(head, metrics)
            logger.debug("downloaded", metadata: ["url": "\(download.key.url)", "bytes": "\(metrics.bodyBytes)"])
            let bytes = waiting.isEmpty ? [] : download.log.allBytes()
            for subscriber in waiting {
                guard case .data(let answer) = subscriber.wish else { continue }
                answer.resolve(.success(data(bytes, head, metrics, for: subscriber)))
                download.log.stopCollecting()
            }
        case .failure(let error):
            // Decodes hear of it through the log; nobody shall join a failure.
            forget(download)
            logger.debug("download failed", metadata: ["url": "\(download.key.url)", "error": "\(error)"])
            for subscriber in waiting { subscriber.fail(error) }
        }
        guard !download.subscribers.isEmpty else { return abandon(download) }
        guard case .received = download.state else { return }
        download.undecodedBytes = download.log.held
        undecodedBytes += download.undecodedBytes
    }

    private func data(
        _ bytes: [UInt8], _ head: ResponseHead, _ metrics: TransferMetrics, for subscriber: Subscriber
    ) -> ImageData {
        ImageData(bytes: bytes, head: head, source: subscriber.isJoined ? .joined : .network, metrics: metrics)
    }

    /// Nobody waits for the download any more: it stops wherever it is.
    func abandon(_ download: Download) {
        forget(download)
        downloads[download.id] = nil
        for decode in download.decodes.values { decode.task.cancel() }
        download.decodes = [:]
        download.state = .abandoned
        queue.remove(download.id)
        download.transfer?.cancel()
        guard download.undecodedBytes > 0 else { return }
        undecodedBytes -= download.undecodedBytes
        download.undecodedBytes = 0
        startNext()
    }

    /// Callers can join the download no longer; another may have taken its place already.
    private func forget(_ download: Download) {
        if joinable[download.key] === download { joinable[download.key] = nil }
    }
}

extension HTTPFields {
    /// These fields, with those of the same name replaced by `others`.
    fileprivate func overridden(by others: HTTPFields) -> HTTPFields {
        guard !others.isEmpty else { return self }
        var fields = self
        for field in others { fields[values: field.name] = [] }
        for field in others { fields.append(field) }
        return fields
    }
}
