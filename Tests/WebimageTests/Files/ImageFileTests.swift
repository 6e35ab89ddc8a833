import Glibc
import Testing
import WebimageConsole

@testable import webimage

struct ImageFileTests {
    @Test func errorForAMissingFileHasItsCode() {
        let error = #expect(throws: FileError.self) { _ = try ImageFile(path: "/nowhere") }
        #expect(error?.code == ENOENT)
    }

    @Test(arguments: [
        ("/nowhere", "cannot read the file: No such file or directory; a URL begins with http:// or https://"),
        ("/dev/", "a folder; pass its files, as in /dev/*.jpg"),
        ("/dev/null", "not a regular file; - reads standard input"),
    ])
    func errorForASourceHasTheRemedy(path: String, description: String) {
        let error = #expect(throws: FileError.self) { _ = try ImageFile(path: path, isSource: true) }
        #expect(error?.description == description)
    }
}
