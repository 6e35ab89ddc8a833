import WebimageConsole

/// The images of a shard that is being made, in the format of its folder.
enum ShardImages {
    /// No images, only their records.
    case none
    /// A tar archive.
    case archive(OrderedFile)
    /// A folder with a file for every member of a sample.
    case files(SampleFolder)

    /// Adds the sample of a successful line.
    func append(_ sample: BatchSample, row: Int) throws(FileError) {
        switch self {
        case .none: break
        case .archive(let archive): try archive.append(sample.tar, row: row)
        case .files(let folder): try folder.append(sample)
        }
    }

    /// Gives the images the name `location`; returns what is or will be at `path`, or `nil` if there are no images.
    func place(at location: String, for path: String) throws -> PlacedFile? {
        switch self {
        case .none: return nil
        case .archive(let archive):
            return try PlacedFile(archive.ordered(end: TarArchive.end), at: location, for: path)
        case .files(let folder):
            let sha256 = try folder.place(at: location)
            return PlacedFile(path: path, bytes: folder.byteCount, sha256: sha256, fileCount: folder.fileCount)
        }
    }
}

/// A file or folder of a shard under its final name, or under a hidden one until it replaces an earlier version.
struct PlacedFile {
    let path: String
    let bytes: Int
    /// The digest of the file, or of the folder (see ``SampleFolder/sha256(of:)``).
    let sha256: String
    /// The number of files in a folder; `nil` for a file.
    let fileCount: Int?

    init(path: String, bytes: Int, sha256: String, fileCount: Int? = nil) {
        self.path = path
        self.bytes = bytes
        self.sha256 = sha256
        self.fileCount = fileCount
    }

    /// Gives a complete file the name `location`; it is or will be at `path`.
    init(_ complete: (file: ReplacingFile, sha256: String), at location: String, for path: String) throws(FileError) {
        try complete.file.place(at: location)
        self.init(path: path, bytes: complete.file.count, sha256: complete.sha256)
    }

    /// The properties in the marker.
    var properties: JSONObject {
        var properties = JSONObject()
        properties.add("bytes", bytes)
        if let fileCount { properties.add("files", fileCount) }
        properties.add("sha256", sha256)
        return properties
    }
}
