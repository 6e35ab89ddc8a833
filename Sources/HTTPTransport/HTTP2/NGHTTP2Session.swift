import CNghttp2
import HTTPTypes

/// An owner of an `nghttp2_session`, which parses and formats the frames of a client.
///
/// It reports to an ``HTTP2Session``. Window updates for streams are sent only for what is consumed.
@safe
struct NGHTTP2Session: ~Copyable {
    private let session: OpaquePointer

    /// Creates a session that begins with `settings`, and fails if there are more unsent answers than the maximum.
    init(settings: [(nghttp2_settings_id, Int)], maximumAnswers: Int) throws(HTTP2Failure) {
        unsafe session = try Self.session(maximumAnswers: maximumAnswers)
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.rawValue), value: UInt32($1)) }
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        let status = unsafe nghttp2_submit_settings(session, flags, entries, entries.count)
        precondition(status == 0, "nghttp2_submit_settings: invalid settings or out of memory")
    }

    private static func session(maximumAnswers: Int) throws(HTTP2Failure) -> OpaquePointer {
        var (callbacks, option, session) = unsafe (OpaquePointer?.none, OpaquePointer?.none, OpaquePointer?.none)
        defer {
            unsafe nghttp2_session_callbacks_del(callbacks)
            unsafe nghttp2_option_del(option)
        }
        try check(unsafe nghttp2_session_callbacks_new(&callbacks))
        try check(unsafe nghttp2_option_new(&option))
        unsafe setCallbacks(callbacks)
        unsafe nghttp2_option_set_no_auto_window_update(option, 1)
        unsafe nghttp2_option_set_max_outbound_ack(option, maximumAnswers)
        try check(unsafe nghttp2_session_client_new2(&session, callbacks, nil, option))
        guard let session = unsafe session else { throw .library("no session") }
        return unsafe session
    }

    deinit { unsafe nghttp2_session_del(session) }

    /// Makes callbacks report to `owner`, which must own this value.
    func report(to owner: HTTP2Session) {
        unsafe nghttp2_session_set_user_data(session, Unmanaged.passUnretained(owner).toOpaque())
    }

    /// Submits a request without a body; returns the number of its stream.
    func submit(_ fields: HTTP2RequestFields) throws(HTTP2Failure) -> Int32 {
        let stream = unsafe fields.bytes.withUnsafeBufferPointer { bytes in
            unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.list.count) { list in
                let start = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
                for (index, field) in fields.list.enumerated() {
                    let flags = field.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                    unsafe list.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: start.map { unsafe $0 + field.name.lowerBound },
                            value: start.map { unsafe $0 + field.value.lowerBound },
                            namelen: field.name.count, valuelen: field.value.count, flags: UInt8(flags.rawValue)))
                }
                return unsafe nghttp2_submit_request(session, nil, list.baseAddress, list.count, nil, nil)
            }
        }
        guard stream >= 0 else { throw Self.failure(stream) }
        return stream
    }

    /// Ends a stream, or the submission of a request that has not been sent.
    func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
        unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    /// Ends the connection.
    func terminate(_ code: HTTP2ErrorCode) {
        unsafe nghttp2_session_terminate_session(session, code.rawValue)
    }

    /// Parses received bytes; returns a negative error of nghttp2 if it cannot continue.
    func receive(_ bytes: Span<UInt8>) -> Int32 {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe Int32(clamping: nghttp2_session_mem_recv(session, bytes.baseAddress, bytes.count))
        }
    }

    /// A Boolean value that indicates whether ``takePending(_:)`` has something.
    var wantsToSend: Bool { unsafe nghttp2_session_want_write(session) != 0 }

    /// Passes the next bytes to send to `take`; returns `false` if there are none.
    func takePending(_ take: (Span<UInt8>) -> Void) throws(HTTP2Failure) -> Bool {
        var bytes: UnsafePointer<UInt8>?
        let count = unsafe nghttp2_session_mem_send(session, &bytes)
        guard count >= 0 else { throw Self.failure(Int32(clamping: count)) }
        guard count > 0 else { return false }
        unsafe take(UnsafeBufferPointer(start: bytes, count: count).span)
        return true
    }

    /// Allows the peer to send `count` more bytes of the body of any stream.
    func consumeOfConnection(_ count: Int) {
        unsafe nghttp2_session_consume_connection(session, count)
    }

    /// Allows the peer to send `count` more bytes of the body of a stream.
    func consume(_ count: Int, of stream: Int32) {
        unsafe nghttp2_session_consume_stream(session, stream, count)
    }

    /// Changes the size of the window of a stream, or of the connection, which has the number 0.
    func setWindow(_ size: Int, of stream: Int32) {
        unsafe nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, Int32(size))
    }

    /// Returns the number of bytes that the peer may send in a stream.
    func remainingWindow(of stream: Int32) -> Int {
        Int(max(0, unsafe nghttp2_session_get_stream_local_window_size(session, stream)))
    }

    /// A Boolean value that indicates whether requests can be sent: neither side is closing, and there are numbers left.
    var allowsRequests: Bool { unsafe nghttp2_session_check_request_allowed(session) != 0 }

    /// The maximum number of streams that the peer accepts.
    var peerStreamLimit: Int {
        Int(unsafe nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// The maximum size of a request that the peer accepts.
    var peerRequestLimit: Int {
        Int(unsafe nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE))
    }

    /// Sets the number of the next stream, for tests.
    func setNextStream(_ stream: Int32) {
        unsafe nghttp2_session_set_next_stream_id(session, stream)
    }

    /// Returns the failure that a negative result of nghttp2 stands for.
    static func failure(_ status: Int32) -> HTTP2Failure {
        switch nghttp2_error(status) {
        case NGHTTP2_ERR_FLOODED, NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
            .flood(unsafe String(cString: nghttp2_strerror(status)))
        case NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE: .noStream
        default: .library(unsafe String(cString: nghttp2_strerror(status)))
        }
    }

    private static func check(_ status: Int32) throws(HTTP2Failure) {
        guard status == 0 else { throw failure(status) }
    }
}
