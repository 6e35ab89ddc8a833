import HTTPTransport

extension HTTPURL {
    /// The scale of the screens that the file is for, by Apple's convention for names: `icon@2x.png`.
    var displayScale: Int {
        let name = lastPathComponent
        for scale in [2, 3] where name.contains("@\(scale)x.") || name.contains("%40\(scale)x.") { return scale }
        return 1
    }
}
