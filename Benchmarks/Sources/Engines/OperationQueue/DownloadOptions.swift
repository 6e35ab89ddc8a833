/// The processing of the body.
///
/// If callers share a download, the options of the first one apply.
struct DownloadOptions: Sendable {
    /// A Boolean value that indicates whether the body is decoded.
    var decodes = true
    /// A Boolean value that indicates whether the received part is decoded with every piece as well.
    var isProgressive = false
    /// Scale the pixels down to no more than this on either side.
    var maximumSide: Int?
}
