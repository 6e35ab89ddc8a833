import Threading
import WebimageConsole
import Foundation
import Testing

@testable import webimage

struct OutputFolderTests {
    private let name = FileName(source: "https://example.com/a.jpg", suffix: "jpg")

    @Test(arguments: ["/new", "/new/"]) func onlyCompleteFilesAreWritten(subfolder: String) throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder + subfolder)
            let path = try output.write([1, 2, 3], as: name)
            #expect(path == folder + "/new/a.jpg")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1, 2, 3]))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/new") == ["a.jpg"])
        }
    }

    @Test func foldersThatRemainEmptyAreRemovedIfTheyWereCreated() throws {
        try withTemporaryFolder { folder in
            #expect(mkdir(folder + "/old", 0o777) == 0)
            let outputs = try ["/old/a/b", "/old/a/c/", "/old"].map { try OutputFolder(path: folder + $0) }
            outputs[0].removeIfEmpty()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/old/a") == ["c"])
            outputs[1].removeIfEmpty()
            outputs[2].removeIfEmpty()
            // The folder in which both are was created for the first.
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/old/a") == [])
            outputs[0].removeIfEmpty()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/old") == [])
        }
    }

    @Test(arguments: FileSystem.allCases)
    func folderWithAFileRemains(_ system: FileSystem) throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder + "/new/images", calls: system.calls)
            _ = try output.write([1], as: name)
            output.removeIfEmpty()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/new/images") == ["a.jpg"])
        }
    }

    /// As by another process that created it and has written nothing.
    @Test(arguments: FileSystem.allCases)
    func folderThatIsRemovedMeanwhileIsCreatedAgain(_ system: FileSystem) throws {
        try withTemporaryFolder { folder in
            let created = try OutputFolder(path: folder + "/new")
            let output = try OutputFolder(path: folder + "/new", calls: system.calls)
            let file = output.makeFile()
            try file.append([UInt8](repeating: 7, count: UnfinishedFile.bufferSize))
            created.removeIfEmpty()
            #expect(try file.place(as: name) == folder + "/new/a.jpg")
            try FileManager.default.removeItem(atPath: folder + "/new")
            #expect(try output.write([1], as: name) == folder + "/new/a.jpg")
        }
    }

    @Test func existingFilesAreNeverOverwritten() throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder)
            for byte in UInt8(0)..<100 { _ = try output.write([byte], as: name) }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            let contents = try files.map { try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0))[0] }
            #expect(Set(contents) == Set(0..<100))
            #expect(Set(files).isSuperset(of: ["a.jpg", "a-2.jpg", "a-100.jpg"]))
        }
    }

    /// Each file is given its name by one call, except the second one, which finds that there are duplicates.
    @Test func duplicatesAreNamedWithoutASearch() throws {
        try withTemporaryFolder { folder in
            let calls = FileSystem.usual.calls
            let paths = Locked<[String]>([])
            var counting = calls
            counting.nameUnnamed = { file, path in
                paths.withLock { $0.append(path) }
                return calls.nameUnnamed(file, path)
            }
            let output = try OutputFolder(path: folder, calls: counting)
            let written = try (0..<50).map { _ in try output.write([1], as: name) }
            #expect(written == (1...50).map { "\(folder)/\(name.numbered($0))" })
            #expect(paths.withLock(\.self) == [written[0]] + written)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func firstFreeNumberIsFound(count: Int) throws {
        try withTemporaryFolder { folder in
            for _ in 0..<count { _ = try OutputFolder(path: folder).write([1], as: name) }
            let output = try OutputFolder(path: folder)
            for number in count + 1...count + 2 {
                #expect(try output.write([1], as: name) == "\(folder)/\(name.numbered(number))")
            }
        }
    }

    @Test func numberOfRememberedDuplicatesHasAMaximum() {
        var names = DuplicateNames()
        names.take(1, of: "a")
        for number in 0...DuplicateNames.maximumCount { names.take(2, of: "\(number)") }
        let next = ["a", "0", "\(DuplicateNames.maximumCount)", "\(DuplicateNames.maximumCount)"].map { names.next($0) }
        #expect(next == [1, 1, 3, 4])
    }

    @Test func concurrentWritersGetDistinctFileNames() async throws {
        try await withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder)
            let name = name
            let paths = try await withThrowingTaskGroup(of: String.self) { group in
                for byte in UInt8(0)..<64 { group.addTask { try output.write([byte], as: name) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(paths.count == 64)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 64)
        }
    }

    @Test func danglingLinksAreNotOverwritten() throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder)
            try FileManager.default.createSymbolicLink(atPath: folder + "/a.jpg", withDestinationPath: "nowhere")
            #expect(try output.write([1], as: name) == folder + "/a-2.jpg")
        }
    }

    @Test func leftoverTemporaryFileOfSameProcessIDIsNoConflict() throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder, calls: FileSystem.withoutUnnamedFiles.calls)
            for number in 1...2_000 {
                let left = "\(folder)/.webimage-\(ProcessInfo.processInfo.processIdentifier)-\(number).part"
                #expect(FileManager.default.createFile(atPath: left, contents: nil))
            }
            #expect(try output.write([1], as: name) == folder + "/a.jpg")
        }
    }

    @Test(arguments: FileSystem.allCases)
    func filesGetTheFirstFreeNameOnEveryFileSystem(_ system: FileSystem) throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder, calls: system.calls)
            let large = [UInt8](repeating: 7, count: 300_000)
            #expect(FileManager.default.createFile(atPath: folder + "/a.jpg", contents: Data([9])))
            #expect(try output.write(large, as: name) == folder + "/a-2.jpg")
            #expect(try output.write([], as: name) == folder + "/a-3.jpg")
            #expect(FileManager.default.contents(atPath: folder + "/a.jpg") == Data([9]))
            #expect(FileManager.default.contents(atPath: folder + "/a-2.jpg") == Data(large))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["a-2.jpg", "a-3.jpg", "a.jpg"])
        }
    }

    @Test(arguments: FileSystem.allCases)
    func fileCreatedMeanwhileIsNotOverwritten(_ system: FileSystem) throws {
        try withTemporaryFolder { folder in
            // Another process takes the name after it has been found to be free.
            @Sendable func take(_ path: String) {
                guard path == folder + "/a.jpg" else { return }
                _ = FileManager.default.createFile(atPath: path, contents: Data([9]))
            }
            let real = system.calls
            var calls = real
            calls.nameUnnamed = { file, path in
                take(path)
                return real.nameUnnamed(file, path)
            }
            calls.renameIfFree = { old, new in
                take(new)
                return real.renameIfFree(old, new)
            }
            calls.link = { old, new in
                take(new)
                return real.link(old, new)
            }
            calls.openNew = { path in
                take(path)
                return real.openNew(path)
            }
            let output = try OutputFolder(path: folder, calls: calls)
            #expect(try output.write([1], as: name) == folder + "/a-2.jpg")
            #expect(FileManager.default.contents(atPath: folder + "/a.jpg") == Data([9]))
        }
    }

    @Test(arguments: [FileSystem.usual, .withoutUnnamedFiles, .withoutLinks])
    func aWriteThatFailsLeavesNothingAndNamesTheImage(_ system: FileSystem) throws {
        try withTemporaryFolder { folder in
            for (code, endsRun) in [(ENOSPC, true), (EDQUOT, true), (EROFS, true), (EIO, true), (EFBIG, false)] {
                var calls = system.calls
                calls.write = { _, _ in -code }
                let output = try OutputFolder(path: folder, calls: calls)
                let error = #expect(throws: FileError.self) { try output.write([1], as: name) }
                #expect(error?.description == FileError("write", folder + "/a.jpg", code: code).description)
                #expect(error?.endsRun == endsRun)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            }
        }
    }

    @Test(arguments: [ENOSPC, EIO])
    func nameOfFailedFileIsAvailableAgain(code: Int32) throws {
        try withTemporaryFolder { folder in
            var calls = FileSystem.withoutLinks.calls
            calls.rename = { _, _ in -code }
            let output = try OutputFolder(path: folder, calls: calls)
            let error = #expect(throws: FileError.self) { try output.write([1], as: name) }
            #expect(error?.description == FileError("create", folder + "/a.jpg", code: code).description)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test func releasedUnfinishedFileIsRemoved() throws {
        try withTemporaryFolder { folder in
            for system in [FileSystem.usual, .withoutUnnamedFiles] {
                let file = try OutputFolder(path: folder, calls: system.calls).makeFile()
                for _ in 0..<9 { try file.append([UInt8](repeating: 1, count: 100_000)) }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test func restartedFileHasOnlyTheNewBytes() throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder)
            for count in [10, 500_000] {
                let file = output.makeFile()
                try file.append([UInt8](repeating: 1, count: count))
                try file.truncate()
                try file.append([2, 3])
                #expect(file.count == 2)
                #expect(FileManager.default.contents(atPath: try file.place(as: name)) == Data([2, 3]))
            }
        }
    }

    @Test(arguments: [10, 300_000]) func contentsTakeLittleMoreMemoryThanTheirBytes(count: Int) throws {
        try withTemporaryFolder { folder in
            let file = try OutputFolder(path: folder).makeFile()
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            try file.append(bytes)
            let contents = try file.contents()
            #expect(contents == bytes && contents.capacity < count + 16_384)
        }
    }

    @Test func temporaryFilesOfDeadProcessesAreRemoved() throws {
        try withTemporaryFolder { folder in
            // No process has such a number.
            let dead = pid_t.max
            let removed = [".webimage-\(dead)-1.part", ".webimage-\(dead)-12345.part"]
            let kept = [
                ".webimage-\(getpid())-1.part", ".webimage-1-1.part", ".webimage-\(dead)-1.part2",
                ".webimage-\(dead)-.part", ".webimage--1.part", ".webimage-\(dead)-x.part", ".webimage-+5-1.part",
                "webimage-\(dead)-1.part", ".webimage-\(dead)-1.jpg", ".webimage-\(dead)-2-1.part",
            ]
            for name in removed + kept {
                #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data([1])))
            }
            let folders = [".webimage-\(dead)-3.part", ".webimage-\(dead)-4.part"]
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(folders[0])", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(folders[1])", withDestinationPath: kept[0])
            // A process on another machine might be writing this one.
            let locked = ".webimage-\(dead)-5.part"
            let descriptor = open("\(folder)/\(locked)", O_RDWR | O_CREAT, 0o600)
            defer { close(descriptor) }
            #expect(flock(descriptor, LOCK_EX) == 0)

            _ = try OutputFolder(path: folder)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(left.sorted() == (kept + folders + [locked]).sorted())
        }
    }

    @Test func fileInsteadOfOutputFolderIsAnError() {
        #expect(throws: FileError("write to the folder", "/dev/null", code: ENOTDIR)) {
            try OutputFolder(path: "/dev/null")
        }
    }

    @Test(arguments: ["a/b/c", "a//b/c/", "./a/../b/c"])
    func outputFolderIsCreatedWithItsParents(path: String) throws {
        try withTemporaryFolder { folder in
            for _ in 0..<2 { _ = try OutputFolder(path: "\(folder)/\(path)").write([1], as: name) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(path)").count == 2)
        }
    }

    @Test func overlongFolderPathIsAnError() throws {
        try withTemporaryFolder { folder in
            let deep = folder + String(repeating: "/a", count: 100_000)
            #expect(throws: FileError("create the folder", deep, code: ENAMETOOLONG)) {
                try OutputFolder(path: deep)
            }
        }
    }

    @Test func unusableOutputFolderHasAReason() throws {
        try withTemporaryFolder { folder in
            _ = FileManager.default.createFile(atPath: folder + "/file", contents: nil)
            #expect(throws: FileError("create the folder", folder + "/file/in", code: ENOTDIR)) {
                try OutputFolder(path: folder + "/file/in")
            }
            #expect(throws: FileError.self) { try OutputFolder(path: folder + "/file") }
        }
    }
}

/// Runs `body` with a folder that is gone afterward.
func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

/// Runs `body` with a folder that is gone afterward.
func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}
