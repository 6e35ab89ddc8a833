import FoundationEssentials

/// The input list of one run, and an empty folder for its results.
struct ShardsWork: Sendable {
    static let processes = 2

    let urls: [String]
    let folder: String

    var list: String { folder + "/urls.txt" }
    var results: String { folder + "/results" }
    /// The path of the summary of `webimage batch`.
    var summary: String { folder + "/summary.json" }
    /// The number of lines per shard, which makes two shards for each process of img2dataset.
    var shard: Int { max(1, urls.count / (Self.processes * 2)) }

    /// Writes the list and creates the folder.
    func prepare() throws {
        try File.createFolder(results)
        try File.write(Array((urls.joined(separator: "\n") + "\n").utf8), to: list)
    }

    /// Returns the number of resulting images.
    ///
    /// It is the count in the summary, or else in the statistics of the shards, or else the number of JPEG files.
    func successCount() throws -> Int {
        if File.exists(summary) { return try Self.successes(in: summary) }
        let names = try File.names(in: results)
        let statistics = names.filter { $0.hasSuffix("_stats.json") }
        if statistics.isEmpty { return names.count { $0.hasSuffix(".jpg") } }
        return try statistics.reduce(0) { try $0 + Self.successes(in: "\(results)/\($1)") }
    }

    private static func successes(in path: String) throws -> Int {
        struct Statistics: Decodable {
            let successes: Int
        }
        return try JSON.value(Statistics.self, from: String(decoding: try File.read(path), as: UTF8.self)).successes
    }
}
