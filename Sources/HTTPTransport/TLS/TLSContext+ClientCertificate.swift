import COpenSSL

extension TLSContext {
    /// Reads `certificate` and its key, which are presented to servers that request one.
    func use(_ certificate: ClientCertificate) throws(TLSFailure) {
        OpenSSLError.clearAll()
        // Without a pass phrase, OpenSSL would prompt on the terminal.
        var passPhrase = Array((certificate.passPhrase ?? "").utf8CString)
        unsafe SSL_CTX_set_default_passwd_cb(pointer) { buffer, size, _, passPhrase in
            guard let buffer = unsafe buffer, let passPhrase = unsafe passPhrase else { return 0 }
            let text = unsafe passPhrase.assumingMemoryBound(to: CChar.self)
            let count = unsafe String(cString: text).utf8.count
            guard count < Int(size) else { return 0 }
            unsafe buffer.update(from: text, count: count + 1)
            return Int32(count)
        }
        let result: Result<Void, TLSFailure> = unsafe passPhrase.withUnsafeMutableBytes { bytes in
            unsafe SSL_CTX_set_default_passwd_cb_userdata(pointer, bytes.baseAddress)
            defer {
                unsafe SSL_CTX_set_default_passwd_cb_userdata(pointer, nil)
                unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
            }
            return Result { () throws(TLSFailure) in try load(certificate) }
        }
        try result.get()
    }

    private func load(_ certificate: ClientCertificate) throws(TLSFailure) {
        let (file, keyFile) = (certificate.certificateFile, certificate.keyFile ?? certificate.certificateFile)
        guard unsafe SSL_CTX_use_certificate_chain_file(pointer, file) == 1 else {
            throw TLSFailure(reading: "the client certificate", from: file)
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(pointer, keyFile, SSL_FILETYPE_PEM) == 1 else {
            throw TLSFailure(
                reading: "the private key of the client certificate from", from: keyFile,
                hint: "it must be the certificate's, and have this pass phrase")
        }
    }
}
