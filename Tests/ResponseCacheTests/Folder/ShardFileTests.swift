import Testing

@testable import ResponseCache

struct ShardFileTests {
    private let resource = "f0" + String(repeating: "1", count: 30)

    @Test func filesAreInTheShardOfTheirResource() {
        for file in [ShardFile.entry(ResponseStorageKey(resource: resource, .part)), .list(resource: resource)] {
            #expect(file.folder == "f0" && file.shard == 0xF0)
            #expect(ShardFile(name: String(file.path.dropFirst(3))) == file)
        }
    }

    @Test func otherFilesAreNobodys() {
        let variant = ResponseStorageKey(resource: resource, selection: "0123456789abcdef").name
        for name in ["", ".vary", variant + ".vary", resource + ".part.vary", resource + ".vary.part"] {
            #expect(ShardFile(name: name) == nil, "\(name)")
        }
    }
}
