import Foundation
import Testing

/// Language features that the compiler miscompiles.
struct AccessorTests {
    /// With Swift 6.3, a field of a value that `_read` yields may be read after the access has ended.
    @Test func sourcesContainNoReadOrModifyAccessors() throws {
        let folder = Module.package + "/Sources"
        let paths = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
        for path in paths where path.hasSuffix(".swift") {
            let lines = try String(contentsOfFile: folder + "/" + path, encoding: .utf8).split(separator: "\n")
            let accessors = lines.filter { line in
                let words = line.split(separator: " ")
                return words.contains("_read") || words.contains("_modify")
            }
            #expect(accessors.isEmpty, "\(path)")
        }
    }
}
