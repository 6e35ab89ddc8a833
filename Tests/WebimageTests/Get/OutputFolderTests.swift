import Foundation
import Testing

@testable import webimage

struct OutputFolderTests {
    private let name = FileName(source: "https://example.com/a.jpg", suffix: "jpg")

    @Test func writesWholeFilesAndNothingElse() throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder + "/new")
            let path = try output.write([1, 2, 3], as: name)
            #expect(path == folder + "/new/a.jpg")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1, 2, 3]))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/new") == ["a.jpg"])
        }
    }

    @Test func neverOverwrites() throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder)
            for byte in UInt8(0)..<100 { _ = try output.write([byte], as: name) }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            let contents = try files.map { try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0))[0] }
            #expect(Set(contents) == Set(0..<100))
            #expect(Set(files).isSuperset(of: ["a.jpg", "a-2.jpg", "a-100.jpg"]))
        }
    }

    @Test func writersAtOnceGetNamesOfTheirOwn() async throws {
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

    @Test func linksThatLeadNowhereAreTaken() throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder)
            try FileManager.default.createSymbolicLink(atPath: folder + "/a.jpg", withDestinationPath: "nowhere")
            #expect(try output.write([1], as: name) == folder + "/a-2.jpg")
        }
    }

    @Test func whatAKilledProcessOfTheSameNumberLeftIsNotInTheWay() throws {
        try withTemporaryFolder { folder in
            let output = try OutputFolder(path: folder)
            for number in 1...2_000 {
                let left = "\(folder)/.webimage-\(ProcessInfo.processInfo.processIdentifier)-\(number).part"
                #expect(FileManager.default.createFile(atPath: left, contents: nil))
            }
            #expect(try output.write([1], as: name) == folder + "/a.jpg")
        }
    }

    @Test(arguments: ["a/b/c", "a//b/c/", "./a/../b/c"])
    func makesTheFoldersItIsIn(path: String) throws {
        try withTemporaryFolder { folder in
            for _ in 0..<2 { _ = try OutputFolder(path: "\(folder)/\(path)").write([1], as: name) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(path)").count == 2)
        }
    }

    @Test func noPathIsTooDeep() throws {
        try withTemporaryFolder { folder in
            let deep = folder + String(repeating: "/a", count: 100_000)
            #expect(throws: FileError(description: "cannot make the folder \(deep): File name too long")) {
                try OutputFolder(path: deep)
            }
        }
    }

    @Test func saysWhyAFolderCannotBeHad() throws {
        try withTemporaryFolder { folder in
            _ = FileManager.default.createFile(atPath: folder + "/file", contents: nil)
            #expect(throws: FileError(description: "cannot make the folder \(folder)/file/in: Not a directory")) {
                try OutputFolder(path: folder + "/file/in")
            }
            #expect(throws: FileError.self) { try OutputFolder(path: folder + "/file") }
        }
    }
}

/// Runs `body` with a folder that is gone afterwards.
func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

/// Runs `body` with a folder that is gone afterwards.
func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}
