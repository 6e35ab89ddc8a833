import COpenSSL
import CCurl
import SocketPolling
import Synchronization
import Threading

/// A transport for HTTP/1.1 and, with TLS, HTTP/2, whose connections are opened by libcurl.
///
/// TLS is that of OpenSSL. libcurl itself sends, over HTTP/1.1, only requests with
/// ``Credential/digest(user:password:)`` or ``Credential/password(user:password:)``, with cookies, for http URLs through a
/// proxy, through a proxy that is reached by TLS, to IPv6 addresses with a zone, and for URLs with unprintable characters.
///
/// Transfers run on up to ``Configuration/threadCount`` threads, each with its own connections; they share the DNS
/// cache, credentials, and cookies. The threads end, and all connections are closed, when the transport is released and
/// no transfer is active.
public final class CurlTransport: Transport {
    private let state: SharedTransportState
    /// The workers of all started threads, in order.
    private let workers = Locked<[CurlWorker]>([])
    private let startThread: ThreadStarter
    private let whenThreadEnded: @Sendable () -> Void
    private let nextID = Atomic<UInt64>(0)

    /// Creates a transport with its own threads and connections.
    ///
    /// The first thread is started for the first transfer, and the others when there are enough transfers for them.
    /// If the system cannot start the first thread, the transfer fails with
    /// ``TransportError/Reason/threadStartFailed``; the next transfer tries again.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, startThread: systemThreads(named: "webimage-curl"))
    }

    init(
        configuration: Configuration, dnsCache: DNSCache? = nil,
        startThread: @escaping ThreadStarter = systemThreads(named: "webimage-curl"),
        whenThreadEnded: @escaping @Sendable () -> Void = {}
    ) {
        _ = RuntimeTimer.opening
        state = SharedTransportState(configuration, dnsCache: dnsCache, openFileLimit: OpenFileLimit.current)
        self.startThread = startThread
        self.whenThreadEnded = whenThreadEnded
    }

    /// Starts a transfer immediately; see ``Transport/start(_:receiver:)``.
    public func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        guard !request.url.isOfSource else {
            receiver.finish(.failed(TransportError(url: request.url.string, reason: .invalidURL)))
            return EndedTransfer()
        }
        let key = state.connectionKey(of: request.url)
        let worker: CurlWorker
        do {
            worker = try self.worker(for: key)
        } catch {
            // There is no thread that could do it later.
            receiver.finish(
                .failed(
                    TransportError(url: request.url.string, reason: .threadStartFailed, detail: error.systemMessage)))
            return EndedTransfer()
        }
        let handle = TransferHandle(
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

extension CurlTransport: WorkPerforming {
    package func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard let only = workers.withLock({ $0.count == 1 ? $0[0] : nil }) else { return false }
        only.thread.perform(work)
        return true
    }
}

// MARK: - Threads

extension CurlTransport {
    /// Returns the worker of the first thread, which is started if necessary.
    ///
    /// Initializing libcurl and its TLS library takes most of a millisecond, which a loader that finds all responses in
    /// its cache need not spend.
    func firstWorker() throws(ThreadFailure) -> CurlWorker {
        try workers.withLock { workers throws(ThreadFailure) in
            if let first = workers.first { return first }
            _ = CurlLibrary.initialized
            let first = try startedWorker(0, on: TransferThread(poller: EventPoller()))
            workers.append(first)
            return first
        }
    }

    /// Returns the worker for a transfer whose connections have this key.
    private func worker(for key: ConnectionKey?) throws(ThreadFailure) -> CurlWorker {
        let first = try firstWorker()
        guard let key, let index = state.assign({ $0.assign(key) }) else { return first }
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
            let thread = TransferThread(poller: EventPoller())
            guard thread.poller.open(), let worker = try? startedWorker(workers.count, on: thread) else { return }
            workers.append(worker)
        }
    }

    /// Starts `thread` for a new worker, and returns that.
    private func startedWorker(_ index: Int, on thread: TransferThread) throws(ThreadFailure) -> CurlWorker {
        do {
            return try start(index, on: thread)
        } catch {
            // The worker's deinitializer is a job of its thread.
            thread.runWithoutThread()
            throw error
        }
    }

    /// Starts `thread` for a new worker, which is released if that fails.
    private func start(_ index: Int, on thread: TransferThread) throws(ThreadFailure) -> CurlWorker {
        let worker = CurlWorker(index, of: state, on: thread)
        try thread.start(driver: worker, with: startThread, whenEnded: whenThreadEnded)
        return worker
    }
}

/// The handle of a transfer that ended before it was returned.
private final class EndedTransfer: Transfer {
    func cancel() {}
    func resume() {}
}

/// Process-wide initialization of libcurl.
private enum CurlLibrary {
    static let initialized: Bool = {
        // Before libcurl does it, because nothing ends the threads of transports when the process exits.
        _ = copenssl_initialize()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()
}
