import Foundation
import Testing
import WebimageConsole

@testable import webimage

/// The locks of shards; those of one process exclude each other as those of several do.
struct ShardLockTests {
    private func withPath(_ body: (String) throws -> Void) throws {
        try withTemporaryFolder { try body($0 + "/.00000.lock") }
    }

    private func holdingLock(_ path: String, _ body: () throws -> Void) throws {
        guard let lock = try ShardLock(path: path) else {
            Issue.record("another process has the lock")
            return
        }
        try body()
        _ = consume lock
    }

    @Test func onlyOneProcessHasTheLockOfAShard() throws {
        try withPath { path in
            try holdingLock(path) {
                if let other = try ShardLock(path: path) {
                    Issue.record("two have the lock")
                    _ = consume other
                }
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            try holdingLock(path) {}
        }
    }

    @Test func lockFileOfAKilledProcessCanBeLocked() throws {
        try withPath { path in
            try Data().write(to: URL(fileURLWithPath: path))
            try holdingLock(path) {}
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    /// Between the opening of the file and its locking, the process that had the lock has removed it, and perhaps
    /// another process has made the next one.
    @Test func lockOfARemovedFileIsNotTheLockOfTheShard() throws {
        try withPath { path in
            var opened: Int32 = -1
            try holdingLock(path) {
                opened = open(path, O_RDWR | O_CLOEXEC)
                let error = #expect(throws: FileError.self) { try ShardLock.lock(opened, at: path) }
                #expect(error?.code == EWOULDBLOCK)
            }
            defer { close(opened) }
            var isLocked = try ShardLock.lock(opened, at: path)
            #expect(!isLocked)
            try holdingLock(path) { isLocked = try ShardLock.lock(opened, at: path) }
            #expect(!isLocked)
        }
    }
}
