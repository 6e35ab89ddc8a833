import WebimageConsole

import Glibc

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
    /// A Boolean value that indicates whether a command got the files, and may have moved them.
    var hasCommand = false

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
        hasCommand = object["post_shard"]?.elementsEqual("true".utf8) == true
    }

    /// Returns whether the shard was made from these lines with these options.
    func describes(_ input: Input, optionsDigest: String) -> Bool {
        self.input == input && self.optionsDigest == optionsDigest
    }

    /// Returns the properties of a file of the shard; `nil` if the shard has no such file.
    func file(named name: String) -> File? { JSONMembers(files)?.object(name).flatMap { File($0) } }

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
        if hasCommand { object.add("post_shard", true) }
    }

    /// Returns the files that a marker describes, by their names; `nil` if `bytes` is not a marker of this program.
    ///
    /// Those that the Python package writes have no digests.
    static func files(_ bytes: [UInt8]) -> [(name: String, file: File)]? {
        guard let files = JSONMembers(bytes)?["files"], let members = JSONScanner.members(of: Array(files)) else {
            return nil
        }
        let described = members.compactMap { member in
            JSONMembers(Array(member.value)).flatMap { File($0) }.map { (member.name, $0) }
        }
        return described.count == members.count ? described : nil
    }

    /// Returns the numbers in an array; `nil` if it contains anything else.
    private static func rows(of array: ArraySlice<UInt8>) -> [Int]? {
        guard array.first == UInt8(ascii: "[") else { return nil }
        let values = array.dropFirst().dropLast().split { $0 == UInt8(ascii: ",") || $0.isBlank }
        let rows = values.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        return rows.count == values.count && rows.allSatisfy { $0 >= 0 } ? rows : nil
    }
}

extension ShardMarker.File {
    /// Reads the properties of a file; returns `nil` if there is no size.
    init?(_ members: JSONMembers) {
        guard let bytes = members.number("bytes") else { return nil }
        self.init(bytes: bytes, sha256: members.text("sha256"), fileCount: members.number("files"))
    }

    /// Returns what is wrong with the size of the file, or the number of files in the folder, at `path`; `nil` if
    /// nothing is.
    func sizeFault(at path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            return errno == ENOENT ? "it is missing" : FileError("read", path).description
        }
        guard let fileCount else {
            // A folder whose files the marker does not count.
            if status.st_mode & S_IFMT == S_IFDIR { return nil }
            guard status.st_mode & S_IFMT == S_IFREG else { return "it is not a file" }
            return status.st_size == bytes ? nil : "it has \(status.st_size) bytes instead of \(bytes)"
        }
        guard let names = try? SampleFolder.names(in: path) else { return "it is not a folder that can be read" }
        return names.count == fileCount ? nil : "it has \(names.count) files instead of \(fileCount)"
    }
}
