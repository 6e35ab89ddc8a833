/// The formats of optional modules, with the commands of each format's own library.
enum OptionalFormat: String, Codable, Hashable, Sendable, CaseIterable {
    case avif, heic, jpegxl, tiff

    /// The name in headings.
    var name: String {
        switch self {
        case .avif: "AVIF"
        case .heic: "HEIC"
        case .jpegxl: "JPEG XL"
        case .tiff: "TIFF"
        }
    }

    var fileExtension: String {
        switch self {
        case .jpegxl: "jxl"
        case .avif, .heic, .tiff: rawValue
        }
    }

    /// The name of the command that decodes.
    var decoder: String {
        switch self {
        case .avif: "avifdec"
        case .heic: "heif-convert"
        case .jpegxl: "djxl"
        case .tiff: "tiff2rgba"
        }
    }

    /// Returns the command that decodes the file `input` at full size, on one thread.
    func decoding(of input: String, scratch: String) throws -> Command {
        let arguments =
            switch self {
            case .avif: ["--jobs", "1", input, scratch + "/pixels.y4m"]
            case .heic: ["--quiet", input, scratch + "/pixels.y4m"]
            // Without an output, it discards the pixels.
            case .jpegxl: ["--num_threads=1", input]
            case .tiff: ["-c", "none", input, scratch + "/pixels.tiff"]
            }
        return Command(try Tool(decoder), arguments)
    }

    /// Returns the command that encodes the PNG file `input`.
    func encoding(of input: String, to output: String) throws -> Command {
        switch self {
        case .avif: Command(try Tool("avifenc"), ["--speed", "6", "--yuv", "420", "--jobs", "all", input, output])
        case .heic: Command(try Tool("heif-enc"), ["--quality", "80", input, "-o", output])
        case .jpegxl: Command(try Tool("cjxl"), ["--distance=1", "--effort=4", input, output])
        case .tiff: Command(try Tool("vips"), ["copy", input, output + "[compression=lzw,predictor=horizontal]"])
        }
    }
}
