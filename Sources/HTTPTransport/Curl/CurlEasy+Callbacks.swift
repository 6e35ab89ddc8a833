import CCurl

extension CurlEasy {
    /// Lets libcurl report to the transfer at `address`, which must stay there until the handle is out of the multi.
    func setTransfer(_ address: UnsafeMutableRawPointer) throws(CurlOptionFailure) {
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_PRIVATE, address))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_WRITEDATA, address))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_HEADERDATA, address))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_PREREQDATA, address))
    }

    /// Installs the three callbacks; once a handle.
    func setCallbacks() throws(CurlOptionFailure) {
        try unsafe check(
            ccurl_set_data_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, address in
                unsafe withTransfer(address, bytes, size * count) { $0.receive(body: $1) } ?? 0
            })
        try unsafe check(
            ccurl_set_data_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, address in
                unsafe withTransfer(address, bytes, size * count) { transfer, line in
                    transfer.receive(headerLine: line) ? line.count : 0
                } ?? 0
            })
        try unsafe check(
            ccurl_set_prereq_function(handle) { address, _, _, _, _ in
                guard let address = unsafe address else { return CURL_PREREQFUNC_ABORT }
                unsafe Unmanaged<CurlTransfer>.fromOpaque(address).takeUnretainedValue().connected()
                return CURL_PREREQFUNC_OK
            })
    }
}

private func withTransfer(
    _ address: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ body: (CurlTransfer, Span<UInt8>) -> Int
) -> Int? {
    guard let address = unsafe address, let bytes = unsafe bytes else { return nil }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(address).takeUnretainedValue()
    return unsafe UnsafeRawPointer(bytes).withMemoryRebound(to: UInt8.self, capacity: count) { pointer in
        let buffer = unsafe UnsafeBufferPointer(start: pointer, count: count)
        return unsafe body(transfer, buffer.span)
    }
}
