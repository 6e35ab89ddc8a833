import WebimageConsole

import Glibc

/// The lists of a folder: the one that begins with shard 0, and those that were added after it, each with a file
/// `00012_list.json` that has the number of its first shard.
extension ShardFolder {
    private static let listSuffix = "_list.json"

    /// Begins or continues the list whose first shard is shard 0.
    ///
    /// Throws ``ConflictingRun`` if shards are made from another list at the same time.
    func beginList() throws -> ShardList {
        var list = try ShardList(path: runPath, firstShard: 0)
        try requireNoOther(than: list.path, among: fileNames())
        list.nextList = try nextList(after: 0)
        return list
    }

    /// Begins a list after all shards of the folder, or continues it.
    ///
    /// `head` is the digest of the first lines of the list, by which it is recognized. Throws ``ConflictingRun`` if
    /// shards are made from another list at the same time.
    func addList(_ head: String) throws -> ShardList {
        /// The path of the file that this process has made.
        var added: String?
        while true {
            let names = try fileNames()
            if let known = try names.first(where: { try $0.hasSuffix(Self.listSuffix) && digest(ofList: $0) == head }) {
                let path = "\(path)/\(known)"
                do {
                    return try openList(path, firstShard: Self.number(of: known) ?? 0, among: names)
                } catch let error as ConflictingRun {
                    // Otherwise, the other list could not be continued.
                    if path == added, try !ShardList.isInUse(path: path) { unsafe unlink(path) }
                    throw error
                } catch let error as FileError where error.code == ENOENT {
                    // The process of another list has removed the file in the meantime.
                    continue
                }
            }
            // Not among the files of now: another process may have added the same list in the meantime.
            try requireNoOther(than: nil, among: names)
            let first = (names.compactMap(Self.number(of:)).max() ?? -1) + 1
            var object = JSONObject()
            object.add("first_shard", first)
            object.add("head_sha256", head)
            let path = "\(path)/\(keys.name(ofShard: first))\(Self.listSuffix)"
            let file = try PartFile(path: path)
            try file.append(object.bytes + [UInt8(ascii: "\n")])
            try file.sync()
            // If there is one already, another process has added a list in the meantime: perhaps this one.
            if try file.placeIfFree() { added = path }
        }
    }

    private func openList(_ path: String, firstShard: Int, among names: [String]) throws -> ShardList {
        var list = try ShardList(path: path, firstShard: firstShard)
        try requireNoOther(than: path, among: names)
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
        guard let members = JSONScanner.members(of: bytes),
            let head = members.first(where: { $0.name == "head_sha256" })
        else { throw ConflictingRun(description: "\(path) was not written by webimage") }
        return JSONScanner.text(of: head.value)
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
