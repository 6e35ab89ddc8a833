import COpenSSL

import Glibc

extension TLSFailure {
    /// Creates the failure of a handshake from OpenSSL's queue of errors.
    ///
    /// - Parameters:
    ///   - host: The host whose certificate is verified.
    ///   - verification: The result of the verification, `X509_V_OK` if it was successful.
    init(handshakeWith host: String, _ error: OpenSSLError, verification: Int) {
        let detail =
            switch error.reasonOfTLS {
            case SSL_R_CERTIFICATE_VERIFY_FAILED? where verification != Int(X509_V_OK):
                Self.detail(ofVerification: verification, host: host)
            case SSL_R_WRONG_VERSION_NUMBER?, SSL_R_HTTP_REQUEST?, SSL_R_PACKET_LENGTH_TOO_LONG?:
                "the server does not answer in TLS"
            case SSL_R_UNSUPPORTED_PROTOCOL?:
                "the server wants a version of TLS that is not allowed"
            default: Self.detail(of: error)
            }
        self.init(kind: .rejected, detail: detail)
    }

    /// Creates the failure of an established connection from OpenSSL's queue of errors.
    init(receiving error: OpenSSLError) {
        // With TLS 1.3, a server checks the client certificate after the handshake.
        let isRejection = error.alert.map { $0.contains("certificate") || $0 == "unknown ca" } ?? false
        self.init(kind: isRejection ? .rejected : .brokenOff, detail: Self.detail(of: error))
    }

    /// Creates the failure to read a file, or to use its content, from OpenSSL's queue of errors.
    init(reading purpose: String, from file: String, hint: String? = nil) {
        let error = OpenSSLError()
        let isMissingDescriptors = error?.systemError == EMFILE || error?.systemError == ENFILE
        var detail = "cannot read \(purpose) \(file)"
        if let error { detail += ": \(error.text)" }
        if let hint, error?.systemError == nil { detail += "; \(hint)" }
        self.init(kind: isMissingDescriptors ? .tooManyOpenFiles : .rejected, detail: detail)
        OpenSSLError.clearAll()
    }

    /// Creates the failure to prepare a connection, from OpenSSL's queue of errors.
    init(preparing purpose: String) {
        self.init(kind: .rejected, detail: "cannot prepare \(purpose): \(OpenSSLError()?.text ?? "out of memory")")
        OpenSSLError.clearAll()
    }

    /// Creates the failure of a connection that broke off with an error of the system.
    init(systemError: Int32) {
        self.init(kind: .brokenOff, detail: unsafe String(cString: strerror(systemError)))
    }

    private static func detail(of error: OpenSSLError) -> String {
        if let alert = error.alert { return "the server sent the TLS alert \(alert)" }
        return error.text
    }

    private static func detail(ofVerification code: Int, host: String) -> String {
        switch Int32(clamping: code) {
        case X509_V_ERR_CERT_HAS_EXPIRED: "the certificate has expired"
        case X509_V_ERR_CERT_NOT_YET_VALID: "the certificate is not valid yet"
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            "the certificate is for other hosts, not for '\(host)'"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            "the certificate was issued by an unknown authority"
        default: unsafe "the certificate is not trusted: \(String(cString: X509_verify_cert_error_string(code)))"
        }
    }
}
