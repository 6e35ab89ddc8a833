import CCurl

/// A version of libcurl and its usable features.
struct CurlVersion: Comparable {
    /// The version X.Y.Z as `0xXXYYZZ`, libcurl's format.
    private let number: UInt32

    /// The version loaded by the process, which can differ from the one it was built with.
    static let loaded = unsafe CurlVersion(number: curl_version_info(CURLVERSION_FIRST).pointee.version_num)

    private init(number: UInt32) {
        self.number = number
    }

    /// Creates the version `major`.`minor`.`patch`.
    init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
        number = major << 16 | minor << 8 | patch
    }

    /// A Boolean value that indicates whether an easy handle can be reused for another transfer.
    ///
    /// Older versions keep a pointer to the last header line of the previous transfer, which has been freed. A
    /// response whose first header line is folded makes libcurl reallocate it. Neither `curl_easy_reset` nor any
    /// other call clears the pointer. The fix (curl's pull request 11103) was made in May 2023; 8.1.2 is the last
    /// release of that month.
    var mayReuseHandles: Bool { self >= CurlVersion(8, 1, 2) }

    static func < (left: CurlVersion, right: CurlVersion) -> Bool { left.number < right.number }
}
