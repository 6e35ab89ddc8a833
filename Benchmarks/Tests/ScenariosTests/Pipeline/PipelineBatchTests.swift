import Testing

@testable import Scenarios

@Suite struct PipelineBatchTests {
    private func batch(in folder: String) -> PipelineBatch {
        PipelineBatch(
            urls: ["http://a/1.jpg?n=0", "http://a/2.jpg?n=1"], paths: ["/b/1.jpg", "/b/2.jpg"], folder: folder,
            concurrency: 64, processes: 2)
    }

    @Test func batchListsContainEveryURLAndItsFile() async throws {
        try await withTemporaryFolder { folder in
            let batch = batch(in: folder + "/batch")
            try batch.prepare()
            func text(_ path: String) throws -> String { String(decoding: try File.read(path), as: UTF8.self) }
            let originals = (0...1).map { "\(folder)/batch/originals/\($0).jpg" }
            #expect(try text(batch.list) == "http://a/1.jpg?n=0\nhttp://a/2.jpg?n=1\n")
            #expect(try text(batch.originals) == originals.map { $0 + "\n" }.joined())
            #expect(
                try text(batch.downloads) == """
                    url = "http://a/1.jpg?n=0"
                    output = "\(originals[0])"
                    url = "http://a/2.jpg?n=1"
                    output = "\(originals[1])"

                    """)
            #expect(try text(batch.localPictures) == "/b/1.jpg\n/b/2.jpg\n")
            #expect(try batch.resultCount() == 0)
        }
    }

    @Test func thumbnailsAreCountedInAllFoldersAndNothingElseIs() async throws {
        try await withTemporaryFolder { folder in
            let batch = batch(in: folder)
            try batch.prepare()
            try File.createFolder(batch.results + "/00000")
            for name in ["photograph.jpg", "00000/0.jpg", "00000/1.jpg", "00000/0.json", "stats.json"] {
                try File.write([], to: "\(batch.results)/\(name)")
            }
            #expect(try batch.resultCount() == 3)
        }
    }

    @Test func speedOfWebimageIsComparedToOtherTools() {
        var repetition = Repetition<Pipeline.Case>()
        for (engine, rate) in [("webimage", 400.0), ("img2dataset", 100)] {
            var measurements = Measurements()
            measurements[.requestsPerSecond] = rate
            repetition[Pipeline.Case(engine: engine, images: 10, concurrency: 64)] = measurements
        }
        let peer = Pipeline.Case(engine: "img2dataset", images: 10, concurrency: 64)
        #expect(Pipeline.compare(peer, in: repetition)[.timesAsFast] == 4)
    }
}
