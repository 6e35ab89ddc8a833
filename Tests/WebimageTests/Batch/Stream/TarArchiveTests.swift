import Foundation
import TestSupport
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct TarArchiveTests {
    @Test func systemTarReadsWrittenArchives() async throws {
        let files = [("000000000.jpg", 700), ("000000000.json", 512), ("000000001.jpg", 0), ("000000001.json", 1)]
        var archive: [UInt8] = []
        for (name, count) in files {
            TarArchive.append([UInt8](repeating: 7, count: count), named: name, to: &archive)
        }
        #expect(archive.count % 512 == 0)
        archive += TarArchive.end
        try await withTemporaryFolder { folder in
            try Data(archive).write(to: URL(fileURLWithPath: folder + "/a.tar"))
            let list = try await Command.run(
                [], by: "tar --utc -tvf \(folder)/a.tar --full-time")
            let lines = list.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            #expect(lines.map { $0.last } == files.map(\.0))
            #expect(lines.map { $0[2] } == files.map { String($0.1) })
            #expect(lines.allSatisfy { $0[0] == "-r--r--r--" && $0[1] == "webimage/webimage" && $0[3] == "1970-01-01" })
            #expect(list.status == 0 && list.errors.isEmpty)
        }
    }

    @Test func headerOfAMemberIsReadBack() throws {
        var archive: [UInt8] = []
        TarArchive.append([UInt8](repeating: 1, count: 700), named: "000000000.jpg", to: &archive)
        let member = try #require(TarArchive.member(Array(archive.prefix(512))))
        #expect(member == ("000000000.jpg", 700))
        #expect(TarArchive.member(Array(archive.prefix(511))) == nil)
        #expect(TarArchive.member([UInt8](repeating: 1, count: 512)) == nil)
    }

    @Test func paddingCompletesTheLastTarBlock() {
        for count in [0, 1, 511, 512, 513] {
            var archive: [UInt8] = []
            TarArchive.append([UInt8](repeating: 1, count: count), named: "a", to: &archive)
            #expect(archive.count == 512 + (count + 511) / 512 * 512)
            #expect(archive.count == 512 + TarArchive.paddedSize(count))
        }
    }
}
