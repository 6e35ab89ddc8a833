import CNghttp2

/// The server's side of a connection in HTTP/2, by nghttp2, which answers as a test demands.
final class HTTP2Peer {
    /// A response and the number of bytes of its body that have been sent.
    private final class Response {
        let body: [UInt8]
        let trailers: [(String, String)]
        var sentCount = 0

        init(_ body: [UInt8], _ trailers: [(String, String)]) {
            self.body = body
            self.trailers = trailers
        }
    }

    /// The fields of each request by its stream, and whether they may enter the compression table.
    private(set) var requests: [Int32: [(name: String, value: String, isIndexed: Bool)]] = [:]
    /// The streams whose requests are complete, in their order.
    private(set) var completed: [Int32] = []
    /// The codes of the streams that have ended.
    private(set) var ends: [Int32: UInt32] = [:]
    /// The client's settings.
    private(set) var settings: [UInt32: UInt32] = [:]
    /// The number of pings that the client has answered.
    private(set) var pongCount = 0
    private var session: OpaquePointer?
    private var responses: [Int32: Response] = [:]

    init(maximumStreams: UInt32? = nil) {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, flags, owner in
            let field = (
                String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self),
                String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self),
                UInt32(flags) & NGHTTP2_NV_FLAG_NO_INDEX.rawValue == 0
            )
            guard let frame else { return 0 }
            HTTP2Peer.owner(owner)?.requests[frame.pointee.hd.stream_id, default: []].append(field)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            guard let peer = HTTP2Peer.owner(owner), let frame = frame?.pointee else { return 0 }
            let type = nghttp2_frame_type(UInt32(frame.hd.type))
            if type == NGHTTP2_HEADERS, UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 {
                peer.completed.append(frame.hd.stream_id)
            } else if type == NGHTTP2_PING, UInt32(frame.hd.flags) & NGHTTP2_FLAG_ACK.rawValue != 0 {
                peer.pongCount += 1
            } else if type == NGHTTP2_SETTINGS {
                for index in 0..<frame.settings.niv {
                    let entry = frame.settings.iv[index]
                    peer.settings[UInt32(entry.settings_id)] = entry.value
                }
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            HTTP2Peer.owner(owner)?.ends[stream] = code
            return 0
        }
        nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
        let limit = maximumStreams.map { value in
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: value)
        }
        let entries = limit.map { [$0] } ?? []
        nghttp2_submit_settings(session, 0, entries, entries.count)
    }

    deinit { nghttp2_session_del(session) }

    /// Takes the bytes that the client has sent; returns whether they are valid.
    func receive(_ bytes: [UInt8]) -> Bool {
        nghttp2_session_mem_recv(session, bytes, bytes.count) == bytes.count
    }

    /// Returns all bytes that can be sent.
    func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        var bytes: UnsafePointer<UInt8>?
        while case let count = nghttp2_session_mem_send(session, &bytes), count > 0 {
            output += UnsafeBufferPointer(start: bytes, count: count)
        }
        return output
    }

    /// Answers with a response, which has no body if `body` is `nil`.
    func respond(
        to stream: Int32, _ fields: [(String, String)], body: [UInt8]? = nil, trailers: [(String, String)] = []
    ) {
        guard let body else {
            withList(fields) { _ = nghttp2_submit_response(session, stream, $0, $1, nil) }
            return
        }
        let response = Response(body, trailers)
        responses[stream] = response
        var provider = nghttp2_data_provider()
        provider.source.ptr = Unmanaged.passUnretained(response).toOpaque()
        provider.read_callback = { session, stream, bytes, limit, flags, source, owner in
            guard let source, let bytes, let flags else { return 0 }
            let response = Unmanaged<Response>.fromOpaque(source.pointee.ptr).takeUnretainedValue()
            let count = min(limit, response.body.count - response.sentCount)
            response.body[response.sentCount...].withUnsafeBufferPointer { rest in
                if let start = rest.baseAddress { bytes.update(from: start, count: count) }
            }
            response.sentCount += count
            guard response.sentCount == response.body.count else { return count }
            flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            guard !response.trailers.isEmpty else { return count }
            flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
            HTTP2Peer.owner(owner)?.withList(response.trailers) {
                _ = nghttp2_submit_trailer(session, stream, $0, $1)
            }
            return count
        }
        withList(fields) { _ = nghttp2_submit_response(session, stream, $0, $1, &provider) }
    }

    /// Sends an interim response.
    func inform(_ stream: Int32, _ fields: [(String, String)]) {
        withList(fields) { _ = nghttp2_submit_headers(session, 0, stream, nil, $0, $1, nil) }
    }

    /// Returns the number of bytes that have been sent of the body of a response.
    func sentCount(of stream: Int32) -> Int { responses[stream]?.sentCount ?? 0 }

    func reset(_ stream: Int32, _ code: UInt32) {
        nghttp2_submit_rst_stream(session, 0, stream, code)
    }

    func goAway(lastStream: Int32, _ code: UInt32 = 0, _ text: String = "") {
        nghttp2_submit_goaway(session, 0, lastStream, code, Array(text.utf8), text.utf8.count)
    }

    func ping() {
        nghttp2_submit_ping(session, 0, nil)
    }

    private func withList(_ fields: [(String, String)], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void) {
        var bytes: [UInt8] = []
        for (name, value) in fields { bytes += Array((name + value).utf8) }
        bytes.withUnsafeMutableBufferPointer { buffer in
            guard var position = buffer.baseAddress else { return }
            let list = fields.map { name, value in
                let (nameStart, valueStart) = (position, position + name.utf8.count)
                position = valueStart + value.utf8.count
                return nghttp2_nv(
                    name: nameStart, value: valueStart, namelen: name.utf8.count, valuelen: value.utf8.count, flags: 0)
            }
            body(list, list.count)
        }
    }

    private static func owner(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Peer? {
        pointer.map { Unmanaged<HTTP2Peer>.fromOpaque($0).takeUnretainedValue() }
    }
}
