import CCurl

/// A release of libcurl, and what it can be trusted with.
struct CurlVersion: Comparable {
    /// `0xXXYYZZ` for release X.Y.Z, as libcurl writes it.
    private let number: UInt32

    /// The release that the process has loaded, which need not be the one it was built with.
    static let loaded = unsafe CurlVersion(number: curl_version_info(CURLVERSION_FIRST).pointee.version_num)

    private init(number: UInt32) {
        self.number = number
    }

    /// Release `major`.`minor`.`patch`.
    init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
        number = major << 16 | minor << 8 | patch
    }

    /// A Boolean value that indicates whether an easy handle may carry another transfer after its first one.
    ///
    /// A handle of an older release keeps a pointer to the last header line of the transfer before, which has been freed.
    /// A response whose first header line is folded makes libcurl reallocate it. Neither `curl_easy_reset` nor anything
    /// else clears the pointer. The fix (curl's pull request 11103) was made in May 2023, and 8.1.2 is that month's last
    /// release.
    var mayReuseHandles: Bool { self >= CurlVersion(8, 1, 2) }

    static func < (left: CurlVersion, right: CurlVersion) -> Bool { left.number < right.number }
}
