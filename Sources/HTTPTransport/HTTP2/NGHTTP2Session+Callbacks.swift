import CNghttp2
import HTTPTypes

// The functions that nghttp2 calls.
extension NGHTTP2Session {
    /// Sets all callbacks.
    static func setCallbacks(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, owner in
            guard let frame = unsafe frame, let session = unsafe Self.owner(owner) else { return callbackFailure }
            let isPromise = unsafe frame.type == NGHTTP2_PUSH_PROMISE
            return session.beginHeaders(of: unsafe frame.stream, isPromise: isPromise) ? 0 : callbackFailure
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, owner in
            guard let frame = unsafe frame, let session = unsafe Self.owner(owner) else { return callbackFailure }
            let isTaken = session.receiveField(
                name: unsafe UnsafeBufferPointer(start: name, count: nameCount).span,
                value: unsafe UnsafeBufferPointer(start: value, count: valueCount).span, of: unsafe frame.stream)
            return isTaken ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, owner in
            guard let header = unsafe header, let session = unsafe Self.owner(owner) else { return callbackFailure }
            if unsafe nghttp2_frame_type(UInt32(header.pointee.type)) == NGHTTP2_DATA {
                unsafe session.beginBody(header.pointee.length, of: header.pointee.stream_id)
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, bytes, count, owner in
            guard let session = unsafe Self.owner(owner) else { return callbackFailure }
            session.receiveBody(unsafe UnsafeBufferPointer(start: bytes, count: count).span, of: stream)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            guard let frame = unsafe frame, let session = unsafe Self.owner(owner) else { return callbackFailure }
            unsafe Self.received(frame, session)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, status, owner in
            guard let frame = unsafe frame, let session = unsafe Self.owner(owner) else { return callbackFailure }
            session.noteFault(unsafe String(cString: nghttp2_strerror(status)), of: unsafe frame.stream)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, count, owner in
            guard let session = unsafe Self.owner(owner) else { return callbackFailure }
            // It contains what the server sent.
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: min(count, HTTP2Session.maximumFaultSize))
            session.noteFieldFault(unsafe String(decoding: bytes, as: UTF8.self))
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, owner in
            guard let frame = unsafe frame, let session = unsafe Self.owner(owner) else { return callbackFailure }
            unsafe Self.sent(frame, session)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, owner in
            guard let frame = unsafe frame, let session = unsafe Self.owner(owner) else { return callbackFailure }
            // The server has announced to accept no more requests.
            if unsafe frame.type == NGHTTP2_HEADERS { session.endStream(unsafe frame.stream, .refusedStream) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            guard let session = unsafe Self.owner(owner) else { return callbackFailure }
            session.endStream(stream, HTTP2ErrorCode(rawValue: code))
            return 0
        }
    }

    /// Reports a frame that has arrived completely and is valid.
    private static func received(_ frame: UnsafePointer<nghttp2_frame>, _ session: HTTP2Session) {
        switch unsafe frame.type {
        case NGHTTP2_HEADERS:
            unsafe session.endHeaders(of: frame.stream)
            if unsafe frame.has(NGHTTP2_FLAG_END_STREAM) { unsafe session.completeResponse(of: frame.stream) }
        case NGHTTP2_DATA:
            if unsafe frame.has(NGHTTP2_FLAG_END_STREAM) { unsafe session.completeResponse(of: frame.stream) }
        case NGHTTP2_SETTINGS:
            if unsafe frame.has(NGHTTP2_FLAG_ACK) { session.acknowledgeSettings() } else { session.receiveSettings() }
        case NGHTTP2_GOAWAY:
            let goAway = unsafe frame.pointee.goaway
            let data = unsafe UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
            let code = HTTP2ErrorCode(rawValue: unsafe goAway.error_code)
            unsafe session.peerCloses(HTTP2Close(code, data: data))
        default: break
        }
    }

    /// Reports a frame that is about to be sent.
    private static func sent(_ frame: UnsafePointer<nghttp2_frame>, _ session: HTTP2Session) {
        switch unsafe frame.type {
        case NGHTTP2_PING, NGHTTP2_SETTINGS:
            if unsafe frame.has(NGHTTP2_FLAG_ACK) { session.countAnswer() }
        case NGHTTP2_RST_STREAM: unsafe session.reject(frame.stream)
        case NGHTTP2_GOAWAY:
            let goAway = unsafe frame.pointee.goaway
            let reason = unsafe UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
            unsafe session.close(HTTP2ErrorCode(rawValue: goAway.error_code), String(decoding: reason, as: UTF8.self))
        default: break
        }
    }

    private static func owner(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Session? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<HTTP2Session>.fromOpaque(pointer).takeUnretainedValue()
    }
}

private let callbackFailure = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

extension UnsafePointer<nghttp2_frame> {
    fileprivate var type: nghttp2_frame_type { unsafe nghttp2_frame_type(UInt32(pointee.hd.type)) }
    fileprivate var stream: Int32 { unsafe pointee.hd.stream_id }

    fileprivate func has(_ flag: nghttp2_flag) -> Bool { unsafe pointee.hd.flags & UInt8(flag.rawValue) != 0 }
}
