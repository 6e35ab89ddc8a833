import Synchronization
import Threading

import Glibc

// Entries that are in the system's page cache.
extension FolderStorage: ImmediateStorage {
    func immediateEntry(_ key: ResponseStorageKey) -> ImmediateEntry? {
        guard isImmediate.load(ordering: .relaxed) else { return nil }
        let file: OpenFile
        do throws(FileFailure) {
            file = try folder.openAtOnce(.entry(key))
        } catch {
            if Self.isRefusal(error.code) { isImmediate.store(false, ordering: .relaxed) }
            return nil
        }
        guard let status = file.status,
            (0...StoredBody.maximumShortLength).contains(status.size - EntryFile.usualRegionLength)
        else { return nil }
        let region: [UInt8]
        let body: [UInt8]
        do throws(FileFailure) {
            let length = EntryFile.usualRegionLength
            guard let parts = try file.readAtOnce(length, status.size - length) else { return nil }
            (region, body) = parts
        } catch {
            if Self.isRefusal(error.code) { isImmediate.store(false, ordering: .relaxed) }
            return nil
        }
        guard let contents = EntryFile.contents(key.kind, region, fileSize: status.size) else { return nil }
        let needsRecording = pendingUses.withLock { $0.insert(key, at: OpenFile.now, after: status.usedAt) }
        let head = ResponseStorageHead(contents.head, contents.layout.body)
        return ImmediateEntry(head: head, body: body, needsRecording: needsRecording)
    }

    /// Returns whether `code` is the `errno` of a call that the kernel, the file system, or a sandbox does not support or
    /// permit, so that it would fail again; a file that is missing or not in memory, for example, says nothing of others.
    static func isRefusal(_ code: Int32) -> Bool { [ENOSYS, EPERM, EINVAL, EOPNOTSUPP].contains(code) }

    func fits(in maximumBytes: Int) -> Bool { folder.recordedBytes.map { $0 <= maximumBytes } ?? false }

    func recordUses() {
        for (key, time) in pendingUses.withLock({ $0.removeAll() }) { folder.markUsed(.entry(key), at: time) }
    }
}
