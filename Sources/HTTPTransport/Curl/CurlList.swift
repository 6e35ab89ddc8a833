import CCurl

/// An owner of a `curl_slist`, which libcurl reads while a handle uses it, and does not change.
@safe
final class CurlList {
    let pointer: UnsafeMutablePointer<curl_slist>?

    init(_ lines: [[UInt8]]) throws(CurlOptionFailure) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            let text = line.map { CChar(bitPattern: $0) } + [0]
            guard let longer = unsafe curl_slist_append(list, text) else {
                unsafe curl_slist_free_all(list)
                throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY)
            }
            unsafe list = longer
        }
        unsafe pointer = list
    }

    deinit { unsafe curl_slist_free_all(pointer) }
}
