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

    let input: Input
    let optionsDigest: String
    /// The number of times that lines of the shard have been answered: 1, and 1 more for each retry.
    var attempt = 1
    /// The number of lines that failed with retryable errors; `nil` if unknown.
    var retryable: Int?
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
        guard let object = Members(bytes), let input = object["input"].flatMap({ Members(Array($0)) }),
            let first = input.number("first"), let count = input.number("count"), let sum = input.text("sha256"),
            let optionsDigest = object.text("options_sha256")
        else { return nil }
        self.init(
            input: Input(first: first, count: count, sha256: sum), optionsDigest: optionsDigest,
            // Earlier versions did not write it.
            attempt: object.number("attempt") ?? 1)
        retryable = object.number("retryable")
        endTime = object["end_time"].flatMap { Double(String(decoding: $0, as: UTF8.self)) } ?? 0
        if let files = object["files"] { self.files = Array(files) }
    }

    /// Returns whether the shard was made from these lines with these options.
    func describes(_ input: Input, optionsDigest: String) -> Bool {
        self.input == input && self.optionsDigest == optionsDigest
    }

    /// Returns the properties of a file of the shard; `nil` if the shard has no such file.
    func file(named name: String) -> File? {
        guard let file = Members(files)?[name].flatMap({ Members(Array($0)) }), let bytes = file.number("bytes") else {
            return nil
        }
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
        object.add("files", raw: files)
    }
}

/// The members of a JSON object by name.
private struct Members {
    private let members: [JSONScanner.Member]

    init?(_ bytes: [UInt8]) {
        guard let members = JSONScanner.members(of: bytes) else { return nil }
        self.members = members
    }

    subscript(name: String) -> ArraySlice<UInt8>? { members.first { $0.name == name }?.value }

    func number(_ name: String) -> Int? { self[name].flatMap { Int(String(decoding: $0, as: UTF8.self)) } }

    func text(_ name: String) -> String? { self[name].flatMap { JSONScanner.text(of: $0) } }
}
