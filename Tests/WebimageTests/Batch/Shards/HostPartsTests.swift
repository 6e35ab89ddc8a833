import ArgumentParser
import AsyncWebImage
import Testing

@testable import webimage

struct HostPartsTests {
    private func entry(_ url: String?, index: Int = 0) -> ListEntry {
        var entry = ListEntry(index: index, line: RawLine())
        entry.writtenURL = url
        return entry
    }

    @Test(arguments: [
        ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C),
        ("foobar", 0x8594_4171_F739_67E8) as (String, UInt64),
    ])
    func hostsAreHashedWithFNV1a(text: String, hash: UInt64) {
        #expect(HostParts.hash(text) == hash)
    }

    @Test func linesOfOneHostBelongToOnePart() {
        let parts = HostParts(count: 7)
        let expected = Int(HostParts.hash("example.com") % 7)
        let urls = [
            "http://example.com/a", "https://EXAMPLE.com/b", "https://example.com:8443/c", "http://u:p@Example.com",
        ]
        for (index, url) in urls.enumerated() { #expect(parts.part(of: entry(url, index: index)) == expected) }
    }

    @Test func linesWithoutHostBelongToPartsByTheirNumber() {
        let parts = HostParts(count: 3)
        for index in 0..<9 {
            #expect(parts.part(of: entry(nil, index: index)) == index % 3)
            #expect(parts.part(of: entry("ftp://example.com/", index: index)) == index % 3)
            var bad = entry("http://example.com/", index: index)
            bad.problem = "a member is reserved"
            #expect(parts.part(of: bad) == index % 3)
        }
    }

    @Test func linesOfASpreadHostBelongToPartsByTheirNumber() {
        let parts = HostParts(count: 3, spread: ["example.com"])
        #expect((0..<6).map { parts.part(of: entry("http://Example.com/\($0)", index: $0)) } == [0, 1, 2, 0, 1, 2])
    }

    @Test func shardsOfPartsByHostAreNumberedLikeThoseByShard() throws {
        let hosts = HostParts(count: 3, spread: ["all"])
        var plan = ShardPlan(
            keys: SampleKeys(samplesPerShard: 2), part: ShardPlan.Part(number: 1, count: 3), unit: .host(hosts))
        let positions = (0..<15).map { plan.position(of: entry("http://all/", index: $0)) }
        #expect(positions.compactMap(\.self) == [0, 1, 2, 3, 4])
        #expect(positions[1] == 0)
        #expect((0..<5).map { plan.shard(at: $0) } == [1, 1, 4, 4, 7])
        #expect((0..<5).map { plan.row(at: $0) } == [0, 1, 0, 1, 0])
        #expect([1, 4, 7].allSatisfy { plan.includes(shard: $0) })
    }

    @Test func limitsPerHostAreDividedUnlessAHostBelongsToOneProcess() throws {
        func limits(_ options: String...) throws -> [Double] {
            let arguments = ["--input", "-", "--output", "o", "--rate", "8", "--per-host", "8"]
            let command = try BatchCommand.parse(arguments + options)
            let downloads = try command.configuration(OpenFileBudget.reserve(OpenFileBudget.Needs(images: 64)))
                .downloads
            #expect(downloads.maximumConnectionsPerHost == downloads.maximumConcurrentDownloadsPerHost)
            return [
                try #require(downloads.rateLimitPerHost?.requestsPerSecond),
                Double(downloads.maximumConcurrentDownloadsPerHost),
            ]
        }
        #expect(try limits() == [8, 8])
        #expect(try limits("--part", "1/4") == [2, 2])
        #expect(try limits("--part", "1/4", "--part-by", "host") == [8, 8])
        #expect(try limits("--part", "1/4", "--part-by", "host", "--sharers", "2") == [4, 4])
        #expect(try limits("--part", "1/4", "--part-by", "host", "--spread-host", "a") == [2, 2])
    }

    @Test(arguments: [["--part-by", "host"], ["--part", "0/2", "--spread-host", "a"]])
    func optionsForHostsNeedPartsByHost(options: [String]) {
        #expect(throws: (any Error).self) {
            try BatchCommand.parse(["--input", "-", "--output", "o"] + options)
        }
    }

    @Test(arguments: [("Example.COM", "example.com"), ("[::1]", "[::1]"), ("127.1", "127.0.0.1")])
    func spreadHostsAreNormalized(text: String, host: String) {
        #expect(HostArgument(argument: text)?.host == host)
    }

    @Test(arguments: ["", "a/b", "http://a", "a:80", "u@a", "a b", "a?", "a#", "a:"])
    func invalidSpreadHostsAreRejected(text: String) {
        #expect(HostArgument(argument: text) == nil)
    }
}
