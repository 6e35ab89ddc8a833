/// What becomes of the body.
///
/// Of the callers who share a download the first one's count.
struct DownloadOptions: Sendable {
    /// Make pixels of it.
    var decodes = true
    /// Make pixels of what has come with every piece, too.
    var isProgressive = false
    /// Scale the pixels down to no more than this on either side.
    var maximumSide: Int?
}
