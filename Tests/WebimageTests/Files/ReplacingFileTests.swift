import Foundation
import TestSupport
import Testing
import WebimageConsole

@testable import webimage

struct ReplacingFileTests {
    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    @Test func fileThatCannotBeClosedDoesNotGetItsName() throws {
        try withTemporaryFolder { folder in
            for isFree in [false, true] {
                var file: ReplacingFile? = try ReplacingFile(path: folder + "/a") {
                    descriptor, name throws(FileError) in
                    try FileDescriptor.close(descriptor, named: name)
                    throw FileError("write to", name, code: EIO)
                }
                try file?.append([1])
                #expect(throws: FileError("write to", folder + "/a", code: EIO)) {
                    if isFree { _ = try file?.placeIfFree() } else { try file?.place() }
                }
                file = nil
                #expect(try names(folder) == [])
            }
        }
    }

    /// It can be a link to a file that must not be changed.
    @Test(arguments: [true, false]) func fileLeftUnderTheTemporaryNameIsReplacedAndNotWritten(isHard: Bool) throws {
        try withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let (victim, part) = (folder + "/victim", ReplacingFile.temporaryPath(of: folder + "/a"))
            try Data([7]).write(to: URL(fileURLWithPath: victim))
            if isHard {
                try FileManager.default.linkItem(atPath: victim, toPath: part)
            } else {
                try FileManager.default.createSymbolicLink(atPath: part, withDestinationPath: victim)
            }
            let file = try ReplacingFile(path: folder + "/a")
            try file.append([1])
            try file.place()
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/a")) == Data([1]))
            #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data([7]))
            #expect(try names(folder).sorted() == ["a", "victim"])
        }
    }

    @Test func placedFileReplacesAnotherOne() throws {
        try withTemporaryFolder { folder in
            for byte in [UInt8(1), 2] {
                let file = try ReplacingFile(path: folder + "/a")
                try file.append([byte])
                try file.place()
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/a")) == Data([2]))
            #expect(try names(folder) == ["a"])
        }
    }

    @Test(arguments: FileSystem.allCases)
    func fileIsNotPlacedOverAnotherOneIfTheNameMustBeFree(_ system: FileSystem) throws {
        try withTemporaryFolder { folder in
            for (byte, isFree) in [(UInt8(1), true), (2, false)] {
                let file = try ReplacingFile(path: folder + "/a", calls: system.calls)
                try file.append([byte])
                #expect(try file.placeIfFree() == isFree)
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/a")) == Data([1]))
            #expect(try names(folder) == ["a"])
        }
    }

    @Test func closingAnUnusableDescriptorIsAnError() {
        #expect(throws: FileError("write to", "a", code: EBADF)) { try FileDescriptor.close(-1, named: "a") }
    }
}
