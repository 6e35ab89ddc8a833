/// The file that says that a shard is complete, and of which lines it was made.
struct ShardMarker: Sendable {
    /// The lines of a shard.
    struct Input: Sendable, Equatable {
        let first: Int
        let count: Int
        /// The SHA-256 of the header of the list, if there is one, and the lines, each followed by a line feed; a line
        /// that does not follow the previous one in the list is preceded by its index and a line feed.
        let sha256: String
    }

    /// A file or folder of the shard.
    struct File: Sendable, Equatable {
        let bytes: Int
        let sha256: String?
        /// The number of files in a folder; `nil` for a file.
        let fileCount: Int?
    }

    /// The maximum number of rows that a marker names.
    static let maximumRows = 65_536

    let input: Input
    let optionsDigest: String
    /// The number of times that lines of the shard have been answered: 1, and 1 more for each retry.
    var attempt = 1
    /// The number of lines that failed with retryable errors; `nil` if unknown.
    var retryable: Int?
    /// The rows of these lines; `nil` if unknown, or more than ``maximumRows``.
    var retryableRows: [Int]?
    /// The numbers of answers, as they were read; `nil` if unknown.
    private(set) var statistics: BatchStatistics?
    /// The time at which the marker was written, in seconds since 1970.
    var endTime = 0.0
    /// The files of the shard, as a JSON object with an object for each name.
    var files: [UInt8] = Array("{}".utf8)

    init(input: Input, optionsDigest: String, attempt: Int = 1) {
        self.input = input
        self.optionsDigest = optionsDigest
        self.attempt = attempt
    }

    /// Reads a marker; returns `nil` if `bytes` is not a marker.
    init?(_ bytes: [UInt8]) {
        guard let object = JSONMembers(bytes), let input = object.object("input"),
            let first = input.number("first"), let count = input.number("count"), let sum = input.text("sha256"),
            let optionsDigest = object.text("options_sha256")
        else { return nil }
        self.init(
            input: Input(first: first, count: count, sha256: sum), optionsDigest: optionsDigest,
            // Without it, it was the first.
            attempt: object.number("attempt") ?? 1)
        retryable = object.number("retryable")
        retryableRows = object["retryable_rows"].flatMap { Self.rows(of: $0) }
        if retryableRows?.count != retryable { retryableRows = nil }
        statistics = BatchStatistics(object)
        if statistics?.count != count { statistics = nil }
        endTime = object["end_time"].flatMap { Double(String(decoding: $0, as: UTF8.self)) } ?? 0
        if let files = object["files"] { self.files = Array(files) }
    }

    /// Returns whether the shard was made from these lines with these options.
    func describes(_ input: Input, optionsDigest: String) -> Bool {
        self.input == input && self.optionsDigest == optionsDigest
    }

    /// Returns the properties of a file of the shard; `nil` if the shard has no such file.
    func file(named name: String) -> File? {
        guard let file = JSONMembers(files)?.object(name), let bytes = file.number("bytes") else { return nil }
        return File(bytes: bytes, sha256: file.text("sha256"), fileCount: file.number("files"))
    }

    /// Adds the marker's members to `object`, which contains the counts of the shard.
    func add(to object: inout JSONObject) {
        var lines = JSONObject()
        lines.add("first", input.first)
        lines.add("count", input.count)
        lines.add("sha256", input.sha256)
        object.add("input", raw: lines.bytes)
        object.add("options_sha256", optionsDigest)
        object.add("attempt", attempt)
        if let retryableRows {
            let rows = retryableRows.map { String($0) }.joined(separator: ",")
            object.add("retryable_rows", raw: Array("[\(rows)]".utf8))
        }
        object.add("files", raw: files)
    }

    /// Returns the numbers in an array; `nil` if it contains anything else.
    private static func rows(of array: ArraySlice<UInt8>) -> [Int]? {
        guard array.first == UInt8(ascii: "[") else { return nil }
        let values = array.dropFirst().dropLast().split { $0 == UInt8(ascii: ",") || $0.isBlank }
        let rows = values.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        return rows.count == values.count && rows.allSatisfy { $0 >= 0 } ? rows : nil
    }
}
