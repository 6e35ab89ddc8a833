/// The work of one run in its own folder: input lists, and an empty folder for the results.
struct PipelineBatch: Sendable {
    let urls: [String]
    /// The paths of the same pictures on this machine.
    let paths: [String]
    let folder: String
    let concurrency: Int
    let processes: Int
    let maximumSide = 256
    let quality = 85

    /// The path of the list of URLs, one per line.
    var list: String { folder + "/urls.txt" }
    /// The path of the list for curl, which contains each URL with the path of its output file.
    var downloads: String { folder + "/downloads.conf" }
    /// The path of the list of curl's output files, one per line.
    var originals: String { folder + "/originals.txt" }
    /// The path of the list of pictures on this machine, one per line.
    var localPictures: String { folder + "/pictures.txt" }
    var results: String { folder + "/results" }

    /// Writes the lists and creates the folders.
    func prepare() throws {
        let files = urls.indices.map { "\(folder)/originals/\($0).jpg" }
        let pairs = zip(urls, files).map { "url = \"\($0)\"\noutput = \"\($1)\"" }
        try File.createFolder(results)
        try File.createFolder(folder + "/originals")
        for (path, lines) in [(list, urls), (downloads, pairs), (originals, files), (localPictures, paths)] {
            try File.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: path)
        }
    }

    /// Returns the number of resulting JPEGs, including those in subfolders.
    func resultCount() throws -> Int { try Self.count(in: results) }

    private static func count(in folder: String) throws -> Int {
        try File.names(in: folder).reduce(0) { sum, name in
            if name.hasSuffix(".jpg") { return sum + 1 }
            let path = "\(folder)/\(name)"
            return File.isFolder(path) ? sum + (try count(in: path)) : sum
        }
    }
}
