import Testing

@testable import Scenarios

@Suite struct ShardsWorkTests {
    private func work(in folder: String) throws -> ShardsWork {
        let work = ShardsWork(urls: (0..<8).map { "http://a/\($0).jpg" }, folder: folder)
        try work.prepare()
        return work
    }

    @Test func shardsInputListHasOneURLPerLine() async throws {
        try await withTemporaryFolder { folder in
            let work = try work(in: folder)
            let lines = String(decoding: try File.read(work.list), as: UTF8.self).split(separator: "\n")
            #expect(lines.map(String.init) == work.urls)
            #expect(work.shard == 2)
        }
    }

    @Test func successesAreReadFromTheStatisticsOfAllShards() async throws {
        try await withTemporaryFolder { folder in
            let work = try work(in: folder)
            for (name, count) in [("00000", 2), ("00001", 1)] {
                try File.write(
                    Array(#"{"count":2,"successes":\#(count)}"#.utf8), to: "\(work.results)/\(name)_stats.json")
                try File.write([], to: "\(work.results)/\(name).tar")
            }
            #expect(try work.successCount() == 3)
        }
    }

    @Test func successesAreReadFromTheBatchSummaryIfItExists() async throws {
        try await withTemporaryFolder { folder in
            let work = try work(in: folder)
            try File.write(Array(#"{"successes":7}"#.utf8), to: work.summary)
            #expect(try work.successCount() == 7)
        }
    }

    @Test func jpegFilesAreCountedIfThereAreNoShardStatistics() async throws {
        try await withTemporaryFolder { folder in
            let work = try work(in: folder)
            for name in ["0.jpg", "1.jpg", "list.txt"] { try File.write([], to: "\(work.results)/\(name)") }
            #expect(try work.successCount() == 2)
        }
    }

    @Test func webimageBatchIsComparedToGetAndImg2datasetToBatch() {
        var repetition = Repetition<Shards.Case>()
        for (engine, rate, cpu) in [
            ("get", 200.0, 4_000.0), ("batch-shards-box", 180, 4_300), ("img2dataset-64", 60, 9_000),
        ] {
            var measurements = Measurements()
            measurements[.requestsPerSecond] = rate
            measurements[.cpuPerRequest] = cpu
            repetition[Shards.Case(engine: engine, images: 10)] = measurements
        }
        func ratios(_ engine: String) -> Measurements {
            Shards.compare(Shards.Case(engine: engine, images: 10), in: repetition)
        }
        #expect(ratios("batch-shards-box")[.ratioToFiles] == 0.9)
        #expect(ratios("batch-shards-box")[.cpuAboveFiles] == 300)
        #expect(ratios("img2dataset-64")[.shardsTimesAsFast] == 3)
        #expect(ratios("img2dataset-64")[.ratioToFiles] == nil)
    }
}
