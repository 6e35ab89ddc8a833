import CCurl
import SocketPolling
import Synchronization
import Threading

/// A transport for HTTP/1.1 and HTTP/2 based on libcurl's multi interface.
///
/// Transfers run on up to ``Configuration/threadCount`` threads, each with its own connections; they share the DNS
/// cache, credentials, and cookies. The threads end, and all connections are closed, when the transport is released and
/// no transfer is active.
public final class CurlTransport: Transport {
    private let state: SharedTransportState
    /// The workers of all started threads, in order.
    private let workers = Locked<[CurlWorker]>([])
    private let poller: any SystemPoller.Type
    private let whenThreadEnded: @Sendable () -> Void
    private let nextID = Atomic<UInt64>(0)

    /// Creates a transport with its own threads and connections.
    ///
    /// The first thread is started for the first transfer, and the others when there are enough transfers for them.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, poller: PlatformPoller.self)
    }

    init(
        configuration: Configuration, poller: any SystemPoller.Type = PlatformPoller.self,
        dnsCache: DNSCache? = nil, whenThreadEnded: @escaping @Sendable () -> Void = {}
    ) {
        _ = RuntimeTimer.opening
        state = SharedTransportState(configuration, dnsCache: dnsCache, openFileLimit: OpenFileLimit.current)
        self.poller = poller
        self.whenThreadEnded = whenThreadEnded
    }

    /// Starts a transfer immediately; see ``Transport/start(_:receiver:)``.
    public func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let key = state.connectionKey(of: request.url)
        let worker = key.map { self.worker(for: $0) } ?? first
        let handle = CurlTransferHandle(
            worker: worker, id: nextID.wrappingAdd(1, ordering: .relaxed).newValue, request: request,
            receiver: receiver, connectionKey: key)
        worker.send(.begin(handle))
        return handle
    }

    /// The number of active transfers.
    package var transferCount: Int {
        get async {
            var count = 0
            for worker in workers.withLock({ $0 }) { count += await worker.transferCount }
            return count
        }
    }

    /// The number of active transfers that wait for the addresses of their host.
    package var lookupCount: Int { state.dnsCache.waiterCount }

    /// The number of threads that have been started.
    var startedThreadCount: Int { workers.withLock(\.count) }
}

// MARK: - Threads

extension CurlTransport {
    /// The worker of the first thread, which is started if necessary.
    ///
    /// Initializing libcurl and its TLS library takes most of a millisecond, which a loader that finds all responses in
    /// its cache need not spend.
    var first: CurlWorker {
        workers.withLock { workers in
            if let first = workers.first { return first }
            _ = CurlLibrary.initialized
            let first = CurlWorker(0, of: state, on: CurlThread(poller: EventPoller(poller)))
            do {
                try first.thread.start(driver: first, whenEnded: whenThreadEnded)
            } catch {
                fatalError("\(error)")
            }
            workers.append(first)
            return first
        }
    }

    private func worker(for key: ConnectionKey) -> CurlWorker {
        let first = first
        guard let index = state.assign({ $0.assign(key) }) else { return first }
        let started = workers.withLock { workers in
            startWorkers(upTo: index, &workers)
            return workers
        }
        if index < started.count { return started[index] }
        return started[state.assign { $0.reassign(key, from: index, toFirst: started.count) } ?? 0]
    }

    /// Starts the worker with this number and those before it, unless the system has no thread or no file descriptors
    /// for one of them.
    private func startWorkers(upTo index: Int, _ workers: inout [CurlWorker]) {
        while workers.count <= index {
            guard let worker = startedWorker(workers.count) else { return }
            workers.append(worker)
        }
    }

    private func startedWorker(_ index: Int) -> CurlWorker? {
        let thread = CurlThread(poller: EventPoller(poller))
        if let worker = startedWorker(index, on: thread) { return worker }
        // The worker's deinitializer is a job of its thread.
        thread.runWithoutThread()
        return nil
    }

    private func startedWorker(_ index: Int, on thread: CurlThread) -> CurlWorker? {
        guard thread.poller.open() else { return nil }
        let worker = CurlWorker(index, of: state, on: thread)
        return (try? thread.start(driver: worker, whenEnded: whenThreadEnded)) == nil ? nil : worker
    }
}

/// Process-wide initialization of libcurl.
private enum CurlLibrary {
    static let initialized: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
