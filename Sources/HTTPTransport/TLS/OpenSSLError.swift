import COpenSSL

import Glibc

/// An error from the queue that OpenSSL has for each thread.
struct OpenSSLError {
    private let code: UInt

    /// Creates the first error of the queue, which is the cause of the others; returns `nil` if the queue is empty.
    init?() {
        code = ERR_peek_error()
        if code == 0 { return nil }
    }

    /// Removes all errors from the queue.
    static func clearAll() { ERR_clear_error() }

    /// The reason, if this is an error of TLS itself.
    var reasonOfTLS: Int32? { ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : nil }

    /// The error number, if this is an error of the system.
    var systemError: Int32? { ERR_GET_LIB(code) == ERR_LIB_SYS ? ERR_GET_REASON(code) : nil }

    /// The name of the alert, if the server sent one.
    var alert: String? {
        guard let reasonOfTLS, reasonOfTLS >= SSL_AD_REASON_OFFSET else { return nil }
        // "tlsv1 alert protocol version"
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard let alert = words.firstIndex(of: "alert") else { return text }
        return words[(alert + 1)...].joined(separator: " ")
    }

    /// OpenSSL's or the system's text.
    var text: String {
        if let systemError { return unsafe String(cString: strerror(systemError)) }
        guard let text = unsafe ERR_reason_error_string(code) else { return "OpenSSL error \(code)" }
        return unsafe String(cString: text)
    }
}
