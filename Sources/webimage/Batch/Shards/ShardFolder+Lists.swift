import WebimageConsole

/// The lists of a folder: the one that begins with shard 0, and those that were added after it, each with a file
/// `00012_list.json` that has the number of its first shard.
extension ShardFolder {
    private static let listSuffix = "_list.json"

    /// Begins or continues the list whose first shard is shard 0.
    ///
    /// Throws ``ConflictingRun`` if shards are made from another list at the same time.
    func beginList() throws -> ShardList {
        let list = try ShardList(path: runPath, firstShard: 0, nextList: list(after: 0))
        try requireNoOther(than: list.path, among: fileNames())
        return list
    }

    /// Begins a list after all shards of the folder, or continues it.
    ///
    /// `head` is the digest of the first lines of the list, by which it is recognized. Throws ``ConflictingRun`` if
    /// shards are made from another list at the same time.
    func addList(_ head: String) throws -> ShardList {
        while true {
            let names = try fileNames()
            if let known = try names.first(where: { try $0.hasSuffix(Self.listSuffix) && digest(ofList: $0) == head }) {
                let first = Self.number(of: known) ?? 0
                let list = try ShardList(path: "\(path)/\(known)", firstShard: first, nextList: list(after: first))
                try requireNoOther(than: list.path, among: names)
                return list
            }
            // Not among the files of now: another process may have added the same list in the meantime.
            try requireNoOther(than: nil, among: names)
            let first = (names.compactMap(Self.number(of:)).max() ?? -1) + 1
            var object = JSONObject()
            object.add("first_shard", first)
            object.add("head_sha256", head)
            let file = try PartFile(path: "\(path)/\(keys.name(ofShard: first))\(Self.listSuffix)")
            try file.append(object.bytes + [UInt8(ascii: "\n")])
            try file.sync()
            // If there is one already, another process has added a list in the meantime: perhaps this one.
            _ = try file.placeIfFree()
        }
    }

    /// Returns the number of the first shard of the list that follows the one whose first shard is `first`.
    private func list(after first: Int) throws -> Int? {
        let lists = try fileNames().filter { $0.hasSuffix(Self.listSuffix) }
        return lists.compactMap(Self.number(of:)).filter { $0 > first }.min()
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
        guard let members = JSONScanner.members(of: try ImageFile(path: path).bytes(limit: 1 << 16)),
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
