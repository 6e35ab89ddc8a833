import CCurl

extension CurlEasy {
    /// Installs the callbacks, which report to ``transfer`` by way of the handle's owner.
    ///
    /// libcurl calls them only while the handle is in the multi, and the transfer holds the owner that long.
    func setCallbacks() throws(CurlOptionFailure) {
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_PRIVATE, this))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_WRITEDATA, this))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_HEADERDATA, this))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_PREREQDATA, this))
        try unsafe check(
            ccurl_set_data_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
                unsafe withTransfer(owner, bytes, size * count) { $0.receive(body: $1) } ?? 0
            })
        try unsafe check(
            ccurl_set_data_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
                unsafe withTransfer(owner, bytes, size * count) { transfer, line in
                    transfer.receive(headerLine: line) ? line.count : 0
                } ?? 0
            })
        try unsafe check(
            ccurl_set_prereq_function(handle) { owner, _, _, _, _ in
                guard let transfer = unsafe CurlEasy.transfer(of: owner) else { return CURL_PREREQFUNC_ABORT }
                transfer.connected()
                return CURL_PREREQFUNC_OK
            })
    }

    /// The transfer on the handle whose private pointer is `owner`.
    static func transfer(of owner: UnsafeMutableRawPointer?) -> CurlTransfer? {
        guard let owner = unsafe owner else { return nil }
        return unsafe Unmanaged<CurlEasy>.fromOpaque(owner).takeUnretainedValue().transfer
    }
}

private func withTransfer(
    _ owner: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ body: (CurlTransfer, Span<UInt8>) -> Int
) -> Int? {
    guard let transfer = unsafe CurlEasy.transfer(of: owner), let bytes = unsafe bytes else { return nil }
    return unsafe UnsafeRawPointer(bytes).withMemoryRebound(to: UInt8.self, capacity: count) { pointer in
        let buffer = unsafe UnsafeBufferPointer(start: pointer, count: count)
        return unsafe body(transfer, buffer.span)
    }
}
