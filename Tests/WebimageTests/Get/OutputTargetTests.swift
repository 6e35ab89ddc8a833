import ArgumentParser
import Foundation
import Testing

@testable import webimage

struct OutputTargetTests {
    private func target(_ name: String, forOneSource isSingle: Bool = true, replaces: Bool = false) throws
        -> OutputTarget
    {
        try OutputTarget(name, forOneSource: isSingle, replaces: replaces)
    }

    @Test func aNameWithAnExtensionIsTheFileOfOneSource() throws {
        #expect(try target("thumb.webp") == .file("thumb.webp", replaces: false))
        #expect(try target("a/b.c/thumb.JPG", replaces: true) == .file("a/b.c/thumb.JPG", replaces: true))
    }

    @Test func theNameOfAnImageIsNoNewFolderForSeveralSources() throws {
        let error = #expect(throws: ValidationError.self) { try target("a/thumb.webp", forOneSource: false) }
        #expect(
            error?.message == "a/thumb.webp looks like a file: with several sources, or --input, -o names a folder; "
                + "write a/thumb.webp/")
        for name in ["thumb.webp/", "thumbs", "v1.2", "a.jpg/b", ".webp"] {
            #expect(try target(name, forOneSource: false) == .folder(name))
        }
    }

    @Test func otherNamesAreFolders() throws {
        for name in ["thumbs", "thumb.webp/", ".hidden", "a.b/c", ".", "..", "name."] {
            #expect(try target(name) == .folder(name))
        }
    }

    @Test func whatExistsDecides() throws {
        try withTemporaryFolder { folder in
            _ = FileManager.default.createFile(atPath: folder + "/photo", contents: Data())
            for path in [folder + "/v1.2", folder + "/old.jpg"] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                #expect(try target(path) == .folder(path))
                #expect(try target(path, forOneSource: false) == .folder(path))
            }
            #expect(try target(folder + "/photo") == .file(folder + "/photo", replaces: false))
            #expect(throws: ValidationError.self) { try target(folder + "/photo", forOneSource: false) }
        }
    }

    @Test func aDashOrADeviceIsAStreamOfOneSource() throws {
        #expect(try target("-") == .stream(nil))
        #expect(try target("/dev/null") == .stream("/dev/null"))
        #expect(throws: ValidationError.self) { try target("-", forOneSource: false) }
    }

    @Test(arguments: [
        ("a.jpg", OutputFormat.jpeg), ("a.JPEG", .jpeg), ("a.jfif", .jpeg), ("a.npy", .npy), ("a.gif", .gif),
    ])
    func theExtensionNamesTheFormat(name: String, format: OutputFormat) throws {
        #expect(try target(name).format == format)
        #expect(try target("a.original").format == nil && target("a.bmp").format == nil)
    }
}
