import CCurl
import SocketPolling

/// An owner of a `CURLM`, driven by socket events: libcurl reports the sockets it waits for and when it must be
/// called.
///
/// Confined to the worker's thread.
@safe
final class CurlMulti {
    private let handle: UnsafeMutableRawPointer
    private let poller: EventPoller
    private let maximumIdleConnections: Int
    private var maximumConnections: ConnectionLimit
    /// The number of times that the limit has been raised since ``takeRaiseCount()``.
    private var raiseCount = 0
    /// The number of open connections that libcurl has opened and no longer uses, which count toward the limits.
    var detachedCount = 0 {
        didSet { if detachedCount != oldValue { limitConnections() } }
    }
    /// The maximum number of open connections at present.
    var connectionLimit: Int { maximumConnections.current }
    /// The tracker of connections; remaining ones are closed with the handle.
    let connections: CurlConnections
    private let shares: ThreadTimeShares
    /// The time when libcurl must be called.
    enum Timer {
        /// As soon as possible, usually because of a new transfer.
        case atOnce
        case at(MonotonicInstant)

        /// Returns the time from `now` until then.
        func wait(from now: MonotonicInstant) -> Duration {
            switch self {
            case .atOnce: .zero
            case .at(let instant): now.duration(to: instant)
            }
        }
    }

    /// The time when libcurl requires ``runTimers(now:)``; `nil` if it does not.
    private(set) var timer: Timer?

    init(
        poller: EventPoller, shares: ThreadTimeShares, maximumIdleConnections: Int, maximumConnections: ConnectionLimit
    ) {
        guard let handle = unsafe curl_multi_init() else { preconditionFailure("curl_multi_init: out of memory") }
        unsafe self.handle = handle
        self.poller = poller
        self.shares = shares
        self.maximumIdleConnections = maximumIdleConnections
        self.maximumConnections = maximumConnections
        connections = CurlConnections(poller: poller, floodGuard: FloodGuard())
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, this)
        unsafe ccurl_multi_set_socket_function(handle) { _, descriptor, what, multi, _ in
            if let multi = unsafe multi {
                unsafe Unmanaged<CurlMulti>.fromOpaque(multi).takeUnretainedValue().watch(descriptor, what)
            }
            return 0
        }
        unsafe ccurl_multi_set_pointer(handle, CURLMOPT_TIMERDATA, this)
        unsafe ccurl_multi_set_timer_function(handle) { _, milliseconds, multi in
            if let multi = unsafe multi {
                unsafe Unmanaged<CurlMulti>.fromOpaque(multi).takeUnretainedValue().setTimer(milliseconds)
            }
            return 0
        }
        limitConnections()
    }

    deinit {
        // To close a connection with TLS, libcurl reads whatever has arrived.
        let status = connections.floodGuard.during { unsafe curl_multi_cleanup(handle) }
        assert(status == CURLM_OK, "a transfer outlived its multi handle")
        connections.floodGuard.end()
    }

    /// Adds a transfer; it starts with the next ``runTimers(now:)``.
    func add(_ easy: CurlEasy) throws(CurlMultiFailure) {
        try check(unsafe curl_multi_add_handle(handle, easy.handle))
    }

    /// Removes a transfer, finished or not.
    ///
    /// Its callbacks are no longer called.
    func remove(_ easy: CurlEasy) {
        let status = connections.floodGuard.during { unsafe curl_multi_remove_handle(handle, easy.handle) }
        assert(status == CURLM_OK, "curl_multi_remove_handle: \(status)")
    }

    /// The result of taking a connection from libcurl.
    enum Detachment {
        /// libcurl no longer uses the socket.
        case socket(Socket)
        /// The connection has been closed meanwhile.
        case closed
        /// libcurl continues to use the socket.
        case refused
    }

    /// Removes a transfer that has only opened a connection, and takes the connection.
    ///
    /// libcurl closes such a connection when the transfer is removed (CURLOPT_CONNECT_ONLY).
    func detach(_ easy: CurlEasy) -> Detachment {
        guard let descriptor = easy.activeSocket else {
            remove(easy)
            return .closed
        }
        let isReleased = connections.keeping(descriptor) { remove(easy) }
        return isReleased ? .socket(Socket(descriptor: descriptor)) : .refused
    }

    /// Lets libcurl handle a socket that is ready.
    func handle(_ event: SocketEvent) {
        var mask: Int32 = 0
        if event.isReadable { mask |= CURL_CSELECT_IN }
        if event.isWritable { mask |= CURL_CSELECT_OUT }
        if event.isBroken { mask |= CURL_CSELECT_ERR }
        connections.beginCall(for: event.descriptor)
        act(on: event.descriptor, mask)
        connections.endCall(for: event.descriptor, wasReadable: event.isReadable)
    }

    /// Lets libcurl handle its timers if they are due, which also starts new transfers.
    func runTimers(now: MonotonicInstant) {
        guard let timer, timer.wait(from: now) <= .zero else { return }
        self.timer = nil
        act(on: CURL_SOCKET_TIMEOUT, 0)
    }

    private func act(on descriptor: Int32, _ mask: Int32) {
        var running: Int32 = 0
        shares.beginCall()
        _ = connections.floodGuard.during {
            unsafe curl_multi_socket_action(handle, descriptor, mask, &running)
        }
    }

    /// Returns the next exchange that has ended, and its result.
    func nextFinished() -> (exchange: CurlExchange, result: CURLcode)? {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            var owner: UnsafeMutableRawPointer?
            unsafe ccurl_get_private(message.pointee.easy_handle, &owner)
            if let exchange = unsafe CurlEasy.exchange(of: owner) {
                return unsafe (exchange, ccurl_message_result(message))
            }
        }
        return nil
    }

    /// Makes room for a connection for which the process has no file descriptor.
    ///
    /// Returns whether a retry is possible: libcurl then closes an idle connection, or waits for one to become idle.
    func makeRoomForConnection() -> Bool {
        guard maximumConnections.ranOut(whileOpen: poller.connectionCount) else { return false }
        limitConnections()
        return true
    }

    /// Records a successful transfer.
    func noteSuccess() {
        guard maximumConnections.succeeded() else { return }
        raiseCount += 1
        limitConnections()
    }

    /// Returns how often the limit of connections has been raised since the last call: libcurl does not reconsider the
    /// transfers that wait.
    func takeRaiseCount() -> Int {
        defer { raiseCount = 0 }
        return raiseCount
    }

    private func limitConnections() {
        // Zero would mean no limit.
        let own = max(1, connectionLimit - detachedCount)
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, own)
        unsafe ccurl_multi_set_long(
            handle, CURLMOPT_MAXCONNECTS, max(1, min(maximumIdleConnections - detachedCount, own)))
    }

    private func watch(_ descriptor: curl_socket_t, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            poller.forget(descriptor)
        } else {
            poller.watch(
                descriptor, for: .init(reads: what & CURL_POLL_IN != 0, writes: what & CURL_POLL_OUT != 0))
        }
    }

    private func setTimer(_ milliseconds: Int) {
        timer =
            switch milliseconds {
            case ..<0: nil
            case 0: .atOnce
            default: .at(.now + .milliseconds(milliseconds))
            }
    }

    private func check(_ status: CURLMcode) throws(CurlMultiFailure) {
        guard status == CURLM_OK else {
            throw CurlMultiFailure(description: unsafe String(cString: curl_multi_strerror(status)))
        }
    }
}

/// The error when libcurl rejects a transfer.
struct CurlMultiFailure: Error, CustomStringConvertible {
    let description: String
}
