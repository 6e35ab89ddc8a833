import Foundation

@testable import webimage

/// File systems with different capabilities; the first is that of this machine.
enum FileSystem: CaseIterable {
    case usual
    /// Every file has a name from the start.
    case withoutUnnamedFiles
    /// An unnamed file cannot get a name after all.
    case withoutNaming
    case withoutRenamingIfFree
    /// FAT and other file systems without hard links support only a plain rename.
    case withoutLinks

    var calls: FileCalls {
        var calls = FileCalls()
        guard self != .usual else { return calls }
        if self == .withoutNaming {
            calls.openUnnamed = { folder in open(folder + "/unnamed", O_RDWR | O_CREAT | O_EXCL, 0o600) }
            calls.nameUnnamed = { _, path in
                unlink((path as NSString).deletingLastPathComponent + "/unnamed")
                return -EPERM
            }
            return calls
        }
        calls.openUnnamed = { _ in -EOPNOTSUPP }
        if self == .withoutUnnamedFiles { return calls }
        calls.renameIfFree = { _, _ in -EINVAL }
        if self == .withoutLinks { calls.link = { _, _ in -EPERM } }
        return calls
    }
}
