import WebimageConsole

import Glibc

/// The system calls that create, write, and name an output file; tests replace some to simulate other file systems.
///
/// Each call returns 0 or a descriptor on success, and the negative error code on failure.
struct FileCalls: Sendable {
    /// Opens an unnamed file in a folder.
    var openUnnamed: @Sendable (_ folder: String) -> Int32 = { folder in
        guard canNameDescriptors else { return -ENOTSUP }
        return result(unsafe open(folder, O_RDWR | unnamedFile | O_CLOEXEC, 0o666))
    }
    /// Opens a file that must not exist yet.
    var openNew: @Sendable (_ path: String) -> Int32 = { path in
        result(unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666))
    }
    /// Gives an unnamed file a name that must be free.
    var nameUnnamed: @Sendable (_ descriptor: Int32, _ path: String) -> Int32 = { descriptor, path in
        result(unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW))
    }
    /// Renames a file unless the new name is taken.
    var renameIfFree: @Sendable (_ old: String, _ new: String) -> Int32 = { old, new in
        guard let call = unsafe renameat2 else { return -ENOSYS }
        return result(unsafe call(AT_FDCWD, old, AT_FDCWD, new, 1))
    }
    /// Gives a file a second name, which must be free.
    var link: @Sendable (_ old: String, _ new: String) -> Int32 = { result(unsafe systemLink($0, $1)) }
    /// Renames a file, replacing an existing one.
    var rename: @Sendable (_ old: String, _ new: String) -> Int32 = { result(unsafe systemRename($0, $1)) }
    /// Writes all bytes.
    var write: @Sendable (_ bytes: [UInt8], _ descriptor: Int32) -> Int32 = { bytes, descriptor in
        do throws(FileError) {
            try FileDescriptor.write(bytes, to: descriptor, named: "")
            return 0
        } catch {
            return -error.code
        }
    }

    private static func result(_ status: Int32) -> Int32 { status < 0 ? -errno : status }

    /// Gives the file `old` another name, which must be free, by the first of three ways that the file system supports;
    /// returns 0 or the negative error code: `-EEXIST` if the name is taken.
    func moveIfFree(_ old: String, to new: String) -> Int32 {
        var status = renameIfFree(old, new)
        guard Self.isUnsupported(status) else { return status }
        status = link(old, new)
        if status == 0 {
            unsafe unlink(old)
            return 0
        }
        guard Self.isUnsupported(status) else { return status }
        // Reserves the name, and then replaces the reserved file.
        let reserved = openNew(new)
        guard reserved >= 0 else { return reserved }
        close(reserved)
        status = rename(old, new)
        if status < 0 { unsafe unlink(new) }
        return status
    }

    /// Returns whether the file system or the kernel does not support a call.
    static func isUnsupported(_ status: Int32) -> Bool {
        [-EPERM, -EOPNOTSUPP, -ENOTSUP, -EMLINK, -ENOSYS, -EINVAL, -EXDEV].contains(status)
    }
}

private let systemLink = unsafe Glibc.link
private let systemRename = unsafe Glibc.rename

/// A Boolean value that indicates whether an unnamed file can be named: through /proc, which can be missing.
private let canNameDescriptors = unsafe access("/proc/self/fd", X_OK) == 0

/// `O_TMPFILE`, a macro that is not imported into Swift.
private let unnamedFile = 0o20_000_000 | O_DIRECTORY

/// Hidden from Swift behind `_GNU_SOURCE`, and missing before glibc 2.28.
private let renameat2: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32)? =
    unsafe unsafeBitCast(
        dlsym(nil, "renameat2"),
        to: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32)?.self)
