import WebimageConsole

import Glibc

/// The lists of a folder: the one that begins with shard 0, and those that were added after it, each with a file such as
/// `00012_list.json` that has the number of its first shard, and the digest by which it is recognized.
extension ShardFolder {
    private static let listSuffix = "_list.json"

    /// Begins or continues the list whose first shard is shard 0; `head` is the digest of its first lines.
    ///
    /// Throws ``ConflictingRun`` if shards are made from another list at the same time.
    func beginList(_ head: String) throws -> ShardList {
        let list = try openList(0, among: fileNames())
        // Otherwise, the shards tell whether this is another list.
        if try !hasMarkers(before: list.nextList) { try replaceFirstList(by: head) }
        return list
    }

    /// Records that shard 0 is the first of the list whose first lines have the digest `head`.
    func replaceFirstList(by head: String) throws {
        let name = "\(keys.name(ofShard: 0))\(Self.listSuffix)"
        let known = unsafe access("\(path)/\(name)", F_OK) == 0 ? try digest(ofList: name) : nil
        if known != head { try listFile(head, firstShard: 0).place() }
    }

    /// Returns the numbers of the complete shards after `last` that belong to the same list, or were made from an earlier
    /// one.
    func completeShards(after last: Int, before next: Int?) throws -> [Int] {
        try fileNames().filter { $0.hasSuffix("_stats.json") }.compactMap(Self.number(of:))
            .filter { $0 > last && $0 < next ?? .max }.sorted()
    }

    /// Returns whether a shard before another list is complete.
    private func hasMarkers(before next: Int?) throws -> Bool {
        try fileNames().contains { name in
            name.hasSuffix("_stats.json") && Self.number(of: name).map { $0 < next ?? .max } ?? false
        }
    }

    /// Returns the file about a list, which is complete but has no name.
    private func listFile(_ head: String, firstShard: Int) throws(FileError) -> ReplacingFile {
        var object = JSONObject()
        object.add("first_shard", firstShard)
        object.add("head_sha256", head)
        let file = try ReplacingFile(path: "\(path)/\(keys.name(ofShard: firstShard))\(Self.listSuffix)")
        try file.append(object.bytes + [UInt8(ascii: "\n")])
        try file.sync()
        return file
    }

    /// Returns the path of the file that processes lock which make shards from the list with this first shard.
    ///
    /// The file about the first list can be replaced while they do.
    private func lockedPath(_ firstShard: Int) -> String {
        firstShard == 0 ? runPath : "\(path)/\(keys.name(ofShard: firstShard))\(Self.listSuffix)"
    }

    /// Begins a list after all shards of the folder, or continues it.
    ///
    /// `head` is the digest of the first lines of the list, by which it is recognized. Throws ``ConflictingRun`` if
    /// shards are made from another list at the same time.
    func addList(_ head: String) throws -> ShardList {
        /// The first shard of the list whose file this process has made.
        var added: Int?
        while true {
            let names = try fileNames()
            if let known = try names.first(where: { try $0.hasSuffix(Self.listSuffix) && digest(ofList: $0) == head }) {
                let first = Self.number(of: known) ?? 0
                do {
                    return try openList(first, among: names)
                } catch let error as ConflictingRun {
                    // Otherwise, the other list could not be continued.
                    if first == added, try !ShardList.isInUse(path: lockedPath(first)) {
                        unsafe unlink("\(path)/\(known)")
                    }
                    throw error
                } catch let error as FileError where error.code == ENOENT {
                    // The process of another list has removed the file in the meantime.
                    continue
                }
            }
            // Not among the files of now: another process may have added the same list in the meantime.
            try requireNoOther(than: nil, among: names)
            let first = (names.compactMap(Self.number(of:)).max() ?? -1) + 1
            // If there is one already, another process has added a list in the meantime: perhaps this one.
            if try listFile(head, firstShard: first).placeIfFree() { added = first }
        }
    }

    private func openList(_ firstShard: Int, among names: [String]) throws -> ShardList {
        var list = try ShardList(path: lockedPath(firstShard), firstShard: firstShard)
        try requireNoOther(than: list.path, among: names)
        list.nextList = try nextList(after: firstShard)
        return list
    }

    /// Returns the number of the first shard of the list that follows the one whose first shard is `first`.
    ///
    /// Call this method while no process makes shards from another list: the files of lists without shards, whose runs
    /// ended too early, are removed.
    private func nextList(after first: Int) throws -> Int? {
        let names = try fileNames()
        var shards = names.filter { !$0.hasSuffix(Self.listSuffix) }.compactMap(Self.number(of:)).sorted()
        let lists = names.compactMap { name in
            name.hasSuffix(Self.listSuffix) ? Self.number(of: name).map { (number: $0, name: name) } : nil
        }
        var next: Int?
        for list in lists.sorted(by: { $0.number > $1.number }) where list.number > first {
            if let last = shards.last, last >= list.number {
                next = list.number
                // Those that remain belong to earlier lists.
                shards.removeAll { $0 >= list.number }
            } else {
                unsafe unlink("\(path)/\(list.name)")
            }
        }
        return next
    }

    /// Throws ``ConflictingRun`` if a process makes shards from another list among the files `names` than that of the
    /// file `own`.
    private func requireNoOther(than own: String?, among names: [String]) throws {
        let paths = [runPath] + names.filter { $0.hasSuffix(Self.listSuffix) }.map { "\(path)/\($0)" }
        for other in paths where try other != own && ShardList.isInUse(path: other) {
            throw ConflictingRun(
                description:
                    "another list is being written to \(path): wait until it is complete, or choose another folder")
        }
    }

    private func digest(ofList name: String) throws -> String? {
        let path = "\(path)/\(name)"
        let bytes: [UInt8]
        do {
            bytes = try ImageFile(path: path).bytes(limit: 1 << 16)
        } catch let error as FileError where error.code == ENOENT {
            // Removed by the process of another list.
            return nil
        }
        guard let head = JSONMembers(bytes)?["head_sha256"] else {
            throw ConflictingRun(description: "\(path) was not written by webimage")
        }
        return JSONScanner.text(of: head)
    }

    /// Returns the number of the shard to which a file belongs; `nil` if it belongs to none.
    private static func number(of name: String) -> Int? {
        // Longer numbers are not those of shards, and might be too large to count on from.
        let digits = name.prefix { $0.isASCII && $0.isNumber }
        guard digits.count <= 18 else { return nil }
        guard ["", ".tar", ".jsonl", "_stats.json", listSuffix].contains(String(name.dropFirst(digits.count))) else {
            return nil
        }
        return Int(digits)
    }
}
