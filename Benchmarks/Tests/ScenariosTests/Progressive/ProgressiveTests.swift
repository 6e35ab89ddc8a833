import Testing

@testable import Scenarios

@Suite(.timeLimit(.minutes(1))) struct ProgressiveTests {
    @Test(arguments: ProgressiveLoad.allCases)
    func everyProgressiveLoadDecodesAllRowsAndPlainOnesShowNoPreviews(load: ProgressiveLoad) async throws {
        try await withTemporaryFolder { folder in
            let fixtures = try FixtureFolder(path: folder)
            let picture = try fixtures.jpeg(width: 320, height: 200, isProgressive: true)
            let bytes = try File.read(picture.path)
            try await withOrigin(serving: fixtures) { origin, _ in
                let url = origin.url(picture.name, bytesPerSecond: bytes.count * 2)
                let work = try load.work(url, bytes)
                let previews = PreviewClock()
                #expect(try await work { previews.tick() } == 200)
                // Whether there is time for a preview depends on the machine.
                #expect(load.showsPreviews || previews.count == 0)
            }
        }
    }

    @Test func libjpegAloneDecodesNoRowsOfIncompleteInvalidOrMissingFiles() async throws {
        try await withTemporaryFolder { folder in
            let fixtures = try FixtureFolder(path: folder)
            let picture = try fixtures.jpeg(width: 320, height: 200, isProgressive: true)
            let bytes = try File.read(picture.path)
            try File.write(Array(bytes.prefix(bytes.count / 2)), to: folder + "/incomplete.jpg")
            // A second start of the image, which libjpeg reports as an error.
            try File.write(Array(bytes.prefix(2)) + bytes, to: folder + "/invalid.jpg")
            try await withOrigin(serving: fixtures) { origin, _ in
                for name in ["incomplete.jpg", "invalid.jpg", "missing.jpg"] {
                    let work = try ProgressiveLoad.curlAndLibjpeg.work(origin.url(name), bytes)
                    #expect(try await work {} == 0)
                }
            }
        }
    }

    @Test func processorTimeIsComparedToThePlainDecodeAndTheLimit() {
        var repetition = Repetition<Progressive.Case>()
        for (load, milliseconds) in [(ProgressiveLoad.actor, 30.0), (.plainDecode, 20), (.curlAndLibjpeg, 24)] {
            repetition[subject(load)] = Measurements()
            repetition[subject(load)]?[.cpu] = milliseconds
        }
        let ratios = Progressive.compare(subject(.actor), in: repetition)
        #expect(ratios[.cpuRatioToPlain] == 1.5)
        #expect(ratios[.cpuRatioToLimit] == 1.25)
    }

    private func subject(_ load: ProgressiveLoad) -> Progressive.Case {
        Progressive.Case(engine: load.rawValue, width: 2_760, height: 1_840)
    }
}
