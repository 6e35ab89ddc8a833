/// The options for processing the body.
///
/// If callers share a download, the options of the first one apply.
struct DownloadOptions: Sendable {
    /// A Boolean value that indicates whether the body is decoded.
    var decodes = true
    /// A Boolean value that indicates whether the received part is also decoded after every piece.
    var isProgressive = false
    /// The maximum width and height of the decoded image, or `nil` for no scaling.
    var maximumSide: Int?
}
