import ArgumentParser
import AsyncWebImage
import ImageCodecs
import Foundation
import Testing

@testable import webimage

/// Docs/Limits.md states the fixed limits of the command, and other documents its defaults.
struct CommandLimitsDocumentTests {
    private let package = #filePath.components(separatedBy: "/Tests/")[0]

    @Test func documentedCommandLimitsMatchTheCode() throws {
        let document = try String(contentsOfFile: "\(package)/Docs/Limits.md", encoding: .utf8)
        let section = try #require(document.components(separatedBy: "## `webimage get`").last)
        let memory = MemoryLimits()
        let configuration = try GetCommand.parse(["photo.jpg"]).loaderConfiguration(concurrency: 1)
        let previews = "\(PreviewWriter.maximumCount) previews, \(mebibytes(PreviewWriter.maximumBytes))"
        let lookahead = LoadGroup.maximumOpenCount.formatted(.number.locale(Locale(identifier: "en_US")))
        let work = DecodeLimits().maximumWork
        #expect(GetCommand.helpMessage(columns: 400).contains("(default: \(work))"))
        let share =
            "a quarter of that of the machine or, if less, of the limit of a control group, at least 16 MiB and at most "
        let expected = [
            "work on one image, as `maximumWork` above":
                "\(work.formatted(.number.locale(Locale(identifier: "en_US")))) pixels",
            "memory to verify or convert one image": share + mebibytes(MemoryLimits.maximumImage),
            "memory to verify all images; an image that needs more is verified alone": mebibytes(memory.allChecks),
            "memory to convert all images; an image that needs more is converted alone":
                mebibytes(memory.allConversions),
            "file of a converted animation, which counts twice as memory: \(AnimationMemory.usualGrowth) times the "
                + "original, but at least": mebibytes(AnimationMemory.smallestOutput),
            "metadata before the pixels": mebibytes(configuration.decoding.limits.maximumHeaderBytes),
            "metadata in memory while it arrives": mebibytes(MemoryLimits.beginning),
            "file names with duplicates whose last number is remembered; with more, all of them are searched for again":
                DuplicateNames.maximumCount.formatted(.number.locale(Locale(identifier: "en_US"))),
            "previews of one image in `--progressive-dir`": previews,
            "images that wait or are processed; at most `--concurrency` of them are processed":
                "\(lookahead) images, \(mebibytes(LoadGroup.maximumWeight)) of URLs",
            "images that wait or are processed; from this number on, a further URL is taken from the list only "
                + "while fewer than `--concurrency` images are processed":
                "\(LoadGroup.openElementsPerActive) times `--concurrency`",
        ]
        for (limit, value) in expected { #expect(section.contains("| \(limit) | \(value) |"), "\(limit)") }
    }

    @Test func documentedLimitsOfRobotsTextMatchTheCode() throws {
        let document = try String(contentsOfFile: "\(package)/Docs/Limits.md", encoding: .utf8)
        let section = try #require(document.components(separatedBy: "## robots.txt in `webimage batch`").last)
        let comparisons = RobotsRules.comparisonLimit.formatted(.number.locale(Locale(identifier: "en_US")))
        let origins = RobotsCache.maximumCount.formatted(.number.locale(Locale(identifier: "en_US")))
        let expected = [
            "part of a robots.txt that is read": "\(RobotsFile.limit >> 10) KiB",
            "redirects of a robots.txt whose rules apply; after more, of which 10 are followed, everything is allowed":
                "\(RobotsCheck.maximumRedirects)",
            "comparisons for one URL; with more, it is disallowed": comparisons,
            "time for which a robots.txt applies": "\(Int(RobotsCache.lifetime / .seconds(3_600))) hours",
            "time after which a robots.txt that could not be read is requested again":
                "\(Int(RobotsCache.failureLifetime / .seconds(60))) minutes",
            "origins whose rules are kept": "\(origins), \(mebibytes(RobotsCache.maximumBytes))",
        ]
        for (limit, value) in expected { #expect(section.contains("| \(limit) | \(value) |"), "\(limit)") }
    }

    @Test func documentedLimitsOfShardsMatchTheCode() throws {
        let document = try String(contentsOfFile: "\(package)/Docs/Limits.md", encoding: .utf8)
        let section = try #require(document.components(separatedBy: "## Shards in `webimage batch`").last)
        let positions = RowTable.longest.formatted(.number.locale(Locale(identifier: "en_US")))
        let rows = ShardMarker.maximumRows.formatted(.number.locale(Locale(identifier: "en_US")))
        let memory = Double(RowTable.longest * MemoryLayout<RowTable.Extent>.stride) / Double(1 << 20)
        let expected = [
            "positions of samples or records in memory, for each of the two files of a shard; with more, they are in a "
                + "file of 16 bytes per line": "\(positions), \(memory) MiB",
            "lines that failed with retryable errors and that the marker of a shard names; if there are more, "
                + "`--failed-to` of a later run reads the records of the shard": rows,
            "shards that are written at a time": "\(ShardOutput.maximumOpenShards)",
        ]
        for (limit, value) in expected { #expect(section.contains("| \(limit) | \(value) |"), "\(limit)") }
    }

    @Test func documentedLimitsOfExifDataMatchTheCode() throws {
        let package = #filePath.components(separatedBy: "/Tests/")[0]
        let document = try String(contentsOfFile: "\(package)/Docs/Limits.md", encoding: .utf8)
        let section = try #require(document.components(separatedBy: "## Exif data in `webimage batch`").last)
        let expected = [
            "part of the Exif data that is read": "\(ExifScanner.maximumBytes >> 10) KiB",
            "fields": "\(ExifReader.maximumFields)",
            "value of a field; larger ones are left out": "\(ExifReader.maximumValueBytes >> 10) KiB",
            "text of the member `exif`; fields that do not fit are left out": "\(ExifText.maximumBytes >> 10) KiB",
        ]
        for (limit, value) in expected { #expect(section.contains("| \(limit) | \(value) |"), "\(limit)") }
    }

    @Test func documentedDefaultsOfBatchMatchTheCode() throws {
        let command = try BatchCommand.parse(["--input", "-", "--output", "-"])
        let resources = command.resources
        let downloads = try command.configuration(OpenFileBudget.reserve(OpenFileBudget.Needs(images: 64))).downloads
        let perHost =
            "at most \(downloads.maximumConnectionsPerHost) transfers at a time from one host, or "
            + "\(downloads.maximumConcurrentDownloadsPerHost) over HTTP/2"
        let samples = command.output.samplesPerShard.formatted(.number.locale(Locale(identifier: "en_US")))
        let lookahead = resources.lookahead.formatted(.number.locale(Locale(identifier: "en_US")))
        let rate = resources.rate == nil ? "not limited" : "limited"
        let failures = command.output.maxRetryableRate == 0.5 ? "half" : "\(command.output.maxRetryableRate)"
        let terminationTime = Int(ShardCommand(text: "").terminationTime / .seconds(1))
        let directives = command.rules.disallowedHeaderDirectives.split(separator: ",").map { "`\($0)`" }
        let exclusion = directives.joined(separator: ", ") + ", or `none`"
        let article = "Sources/AsyncWebImage/AsyncWebImage.docc/ProcessMillionsOfURLs.md"
        let python = "Integrations/python/README.md"
        let limits = "Docs/Limits.md"
        let phrases: [(document: String, text: String)] = [
            (article, "There are \(perHost), but their rate is \(rate) by default"),
            (article, "by default, tar files for WebDataset, each with the images of \(samples) lines of the list"),
            (article, "If more than \(failures) of the lines of a shard failed with retryable errors"),
            (article, "if a response contains \(exclusion), its body is not downloaded"),
            (python, "\(perHost) (`per_host`)"),
            (limits, "\(resources.concurrency) images are processed at a time (`--concurrency`)"),
            (limits, "\(perHost) (`--per-host`)"),
            (python, "`thread_count` (the number of transfers, \(resources.concurrency) by default)"),
            (python, "for responses with \(exclusion), the body is not downloaded"),
            (python, "There is \(resources.rate == nil ? "no" : "a") rate limit by default"),
            (limits, "a body can have \(mebibytes(resources.maxBytes.bytes)) (`--max-bytes`)"),
            (limits, "a URL takes at most \(Int(BatchCommand.deadline)) seconds (`--deadline`)"),
            (limits, "the memory to convert all images is \(mebibytes(resources.memory.bytes)) (`--memory`)"),
            (limits, "a command of `--post-shard` has \(terminationTime) seconds to end"),
            ("Docs/Performance.md", "(`--lookahead`, \(lookahead) by default)"),
            ("Integrations/examples/README.md", "whole shards, of \(samples) lines by default"),
        ]
        for (document, phrase) in phrases {
            let text = try String(contentsOfFile: "\(package)/\(document)", encoding: .utf8)
            // Phrases may be broken across lines.
            let unbroken = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(unbroken.contains(phrase), "\(document): \(phrase)")
        }
    }

    @Test func commandsHaveTheLimitsOfTheLibrary() throws {
        let library = DownloadConfiguration()
        let get = try GetCommand.parse(["photo.jpg"])
        let batch = try BatchCommand.parse(["--input", "-", "--output", "-"])
        #expect(get.concurrency == library.maximumConcurrentDownloads)
        // A machine often runs several processes.
        #expect(batch.resources.concurrency == library.maximumConcurrentDownloads / 2)
        let budget = try OpenFileBudget.reserve(OpenFileBudget.Needs(images: 64))
        for downloads in [
            try get.loaderConfiguration(concurrency: 64).downloads, try batch.configuration(budget).downloads,
        ] {
            #expect(downloads.maximumConcurrentDownloads == 64)
            #expect(downloads.maximumConcurrentDownloadsPerHost == library.maximumConcurrentDownloadsPerHost)
            #expect(downloads.maximumConnectionsPerHost == library.maximumConnectionsPerHost)
        }
        let perHost =
            "(default: \(library.maximumConnectionsPerHost), or \(library.maximumConcurrentDownloadsPerHost) if the host "
            + "speaks HTTP/2)"
        for help in [GetCommand.helpMessage(columns: 400), BatchCommand.helpMessage(columns: 400)] {
            #expect(help.contains(perHost))
        }
    }

    @Test(arguments: [1, 7, 100])
    func limitPerHostOfGetAppliesToBothProtocols(count: Int) throws {
        let command = try GetCommand.parse(["--per-host", "\(count)", "photo.jpg"])
        let downloads = try command.loaderConfiguration(concurrency: 64).downloads
        #expect(downloads.maximumConcurrentDownloadsPerHost == count && downloads.maximumConnectionsPerHost == count)
        #expect(throws: (any Error).self) { try GetCommand.parse(["--per-host", "\(1 - count)", "photo.jpg"]) }
    }

    private func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
}
