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
        #expect(try target("thumb.webp", forOneSource: false) == .folder("thumb.webp"))
    }

    @Test func otherNamesAreFolders() throws {
        for name in ["thumbs", "thumb.webp/", ".hidden", "a.b/c", ".", "..", "name."] {
            #expect(try target(name) == .folder(name))
        }
    }

    @Test func whatExistsDecides() throws {
        try withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder + "/v1.2", withIntermediateDirectories: false)
            _ = FileManager.default.createFile(atPath: folder + "/photo", contents: Data())
            #expect(try target(folder + "/v1.2") == .folder(folder + "/v1.2"))
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
