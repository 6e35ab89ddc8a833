import WebimageConsole

import Glibc

/// The replacement of a complete shard by another version of it, of which a killed process leaves either the earlier
/// version or the new one.
///
/// The new files first get hidden names, such as `.00000.tar.new`. Without a file `.00000_stats.json.new`, the shard is
/// the earlier version, and files with such names are nobody's. When the new marker has got that name, the shard is the
/// new version, and the process that has the lock of the shard completes the replacement, however often it is
/// interrupted:
///
/// 1. Remove the earlier marker, so that no marker is beside files that it does not describe.
/// 2. Give the new files that still have hidden names their final names.
/// 3. Run the command of `--post-shard`.
/// 4. Give the new marker its final name.
extension ShardFolder {
    /// Returns the hidden name of a new file that will be at `path`.
    func replacementPath(of path: String) -> String { "\(self.path)/.\(ShardFolder.name(of: path)).new" }

    /// Returns whether a complete shard has been replaced, but the new files do not have their final names yet.
    func isBeingReplaced(_ shard: Int) -> Bool {
        unsafe access(replacementPath(of: markerPath(shard)), F_OK) == 0
    }

    /// Throws an error if the files of the earlier version could not be removed.
    func requireReplaceable(_ shard: Int) throws(FileError) {
        guard form == .files else { return }
        try SampleFolder.requireNoOtherFiles(in: imagesPath(shard), shard: keys.name(ofShard: shard))
    }

    /// Writes the marker of the new version, whose files have their hidden names: from now on, the shard is that version.
    func decideReplacement(_ shard: Int, marker: JSONObject) throws(FileError) {
        try sync()
        try writeMarker(marker, at: replacementPath(of: markerPath(shard)))
    }

    /// Gives the files of the new version their final names; the lock of the shard must be held.
    func completeReplacement(_ shard: Int, _ command: ShardCommand?) async throws {
        if unsafe unlink(markerPath(shard)) != 0, errno != ENOENT { throw FileError("remove", markerPath(shard)) }
        try sync()
        var paths: [String] = []
        if form != .none { paths.append(imagesPath(shard)) }
        if hasSidecar { paths.append(sidecarPath(shard)) }
        for path in paths where unsafe access(replacementPath(of: path), F_OK) == 0 {
            if form == .files { SampleFolder.remove(path, shard: keys.name(ofShard: shard)) }
            try Self.move(replacementPath(of: path), to: path)
        }
        try sync()
        try await command?.run(paths, shard: keys.name(ofShard: shard))
        try Self.move(replacementPath(of: markerPath(shard)), to: markerPath(shard))
        try sync()
    }

    /// Removes the files of a new version that was not decided on.
    func removeReplacement(_ shard: Int) {
        for path in [sidecarPath(shard), imagesPath(shard)] {
            let hidden = replacementPath(of: path)
            if unsafe unlink(hidden) != 0 { SampleFolder.remove(hidden, shard: keys.name(ofShard: shard)) }
        }
    }

    private static func move(_ path: String, to other: String) throws(FileError) {
        guard unsafe rename(path, other) == 0 else { throw FileError("create", other) }
    }
}
