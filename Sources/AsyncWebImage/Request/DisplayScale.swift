import HTTPTransport

extension HTTPURL {
    /// The display scale of the file according to Apple's naming convention: `icon@2x.png`.
    var displayScale: Int {
        let name = lastPathComponent
        for scale in [2, 3] where name.contains("@\(scale)x.") || name.contains("%40\(scale)x.") { return scale }
        return 1
    }
}
