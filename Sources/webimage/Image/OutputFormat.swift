import AsyncWebImage

/// The formats of files that are written.
enum OutputFormat: String, CaseIterable {
    case jpeg
    case png
    case webp
    case gif
    case npy
    case original

    /// Creates a format from its name, in lowercase or uppercase; `jpg` is `jpeg`.
    init?(argument: String) {
        let name = argument.lowercased()
        self.init(rawValue: name == "jpg" ? "jpeg" : name)
    }

    /// Creates the format that files with this extension have; returns `nil` if none can be written.
    init?(fileExtension: String) {
        let name = fileExtension.lowercased()
        guard name != "original" else { return nil }
        self.init(rawValue: ["jpg", "jpe", "jfif"].contains(name) ? "jpeg" : name)
    }

    /// The format of the files; `nil` for that of the original.
    var imageFormat: ImageFormat? {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .gif: .gif
        case .npy: .npy
        case .original: nil
        }
    }
}
