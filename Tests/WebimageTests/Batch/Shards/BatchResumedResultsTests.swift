import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The results of the built command with `batch` if an earlier run has completed some of the shards.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(4))
)
struct BatchResumedResultsTests {
    typealias Site = BatchRetryTests.Site

    /// Runs `body` with the list and the folder of the tests of `--retry-failed`; of each ten lines, the line 3 fails
    /// with a retryable error, and the line 9 with another one.
    private func withSite(_ count: Int = 50, _ body: (Site) async throws -> Void) async throws {
        try await BatchRetryTests().withSite(count, body)
    }

    private func object(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { String($0) }
    }

    /// Returns the lines of a list that fail with retryable errors, sorted.
    private func busyLines(_ list: String) -> [String] {
        list.split(separator: "\n").map { String($0) }.filter { $0.contains("/busy/") }.sorted()
    }

    /// Makes shards incomplete, as if a run had been interrupted before they were complete.
    private func removeMarkers(_ shards: String..., in folder: String) throws {
        for shard in shards { try FileManager.default.removeItem(atPath: "\(folder)/\(shard)_stats.json") }
    }

    private func changeMarkers(_ folder: String, _ change: (inout [String: Any]) -> Void) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix("_stats.json") {
            let path = "\(folder)/\(name)"
            var marker = try object(path)
            change(&marker)
            try JSONSerialization.data(withJSONObject: marker).write(to: URL(fileURLWithPath: path))
        }
    }

    @Test(arguments: [[], ["--sidecar", "none"], ["--unsorted"], ["--output-format", "files"]])
    func resumedRunReportsTheWholeList(options: [String]) async throws {
        try await withSite { site in
            #expect(try await site.run(options).status == 0)
            try removeMarkers("00001", in: site.folder)
            let requests = site.origin.counts.totalRequests
            let (summary, again) = (site.folder + "-summary", site.folder + "-again")
            let result = try await site.run(options + ["--summary", summary, "--failed-to", again])
            #expect(result.status == 0)
            #expect(!result.errors.contains("webimage:"), "\(result.errors)")
            #expect(site.origin.counts.totalRequests == requests + 20)

            let counts = try object(summary)
            #expect(counts["count"] as? Int == 50 && counts["successes"] as? Int == 40)
            #expect(counts["failed_to_download"] as? Int == 10 && counts["failed_to_resize"] as? Int == 0)
            #expect(counts["status_dict"] as? [String: Int] == ["success": 40, "http_404": 5, "http_503": 5])
            let earlier = try #require(counts["earlier"] as? [String: Any])
            #expect(earlier["count"] as? Int == 30 && earlier["successes"] as? Int == 24)
            #expect(earlier["status_dict"] as? [String: Int] == ["success": 24, "http_404": 3, "http_503": 3])
            #expect(counts["unknown_count"] as? Int == 0 && counts["skipped_count"] as? Int == 0)
            #expect(try lines(again).sorted() == busyLines(site.list))
        }
    }

    @Test func runAfterAnInterruptionReportsTheWholeList() async throws {
        try await withSite(40) { site in
            site.origin.route("/ok/25", LoopbackOrigin.Response(body: site.photograph).stalled(at: .body(10)))
            let interrupted = try await site.run(["--grace", "0"]) { command in
                while !FileManager.default.fileExists(atPath: site.folder + "/00000_stats.json"),
                    await !command.ends(within: .milliseconds(5))
                {}
                command.send(SIGTERM)
            }
            #expect(interrupted.status == 143)
            site.origin.route("/ok/25", LoopbackOrigin.Response(body: site.photograph))
            let (summary, again) = (site.folder + "-summary", site.folder + "-again")
            #expect(try await site.run(["--summary", summary, "--failed-to", again]).status == 0)
            let counts = try object(summary)
            #expect(counts["count"] as? Int == 40 && counts["successes"] as? Int == 32)
            #expect((counts["earlier"] as? [String: Any])?["count"] as? Int == 20)
            #expect(try lines(again).sorted() == busyLines(site.list))
        }
    }

    @Test func failureOfAnEarlierRunSetsTheExitStatus() async throws {
        try await withSite(40) { site in
            let fine = site.list.replacing("/busy/", with: "/ok/").replacing("/missing/", with: "/ok/")
            let halves = [site.list, fine].map { $0.split(separator: "\n") }
            let list = (halves[0][..<20] + halves[1][20...]).joined(separator: "\n")
            #expect(try await site.run(list: list).status == 0)
            try removeMarkers("00001", in: site.folder)
            #expect(try await site.run(["--fail-on-error"], list: list).status == 1)
            // Now all shards are complete.
            #expect(try await site.run(["--fail-on-error"], list: list).status == 1)

            let other = site.folder + "-fine"
            #expect(try await site.run(list: fine, into: other).status == 0)
            #expect(try await site.run(["--fail-on-error"], list: fine, into: other).status == 0)
        }
    }

    @Test func failedLinesOfOlderShardsAreReadFromTheirRecords() async throws {
        try await withSite { site in
            #expect(try await site.run().status == 0)
            try changeMarkers(site.folder) { $0["retryable_rows"] = nil }
            let again = site.folder + "-again"
            let result = try await site.run(["--failed-to", again])
            #expect(result.status == 0)
            #expect(!result.errors.contains("webimage:"), "\(result.errors)")
            #expect(try lines(again).sorted() == busyLines(site.list))
        }
    }

    @Test func failedLinesThatAreUnknownAreReported() async throws {
        try await withSite { site in
            // Files that a command may have moved are not looked for.
            #expect(try await site.run(["--post-shard", "true"]).status == 0)
            try changeMarkers(site.folder) { $0["retryable_rows"] = nil }
            try FileManager.default.removeItem(atPath: site.folder + "/00000.jsonl")
            try Data("{}\n".utf8).write(to: URL(fileURLWithPath: site.folder + "/00002.jsonl"))
            let (summary, again) = (site.folder + "-summary", site.folder + "-again")
            let result = try await site.run(["--failed-to", again, "--summary", summary])
            #expect(result.status == 0)
            let message = "--failed-to lacks the failed lines of 2 complete shards"
            #expect(result.errors.contains(message), "\(result.errors)")
            let known = site.list.split(separator: "\n")[20..<40].joined(separator: "\n")
            #expect(try lines(again).sorted() == busyLines(known))
            #expect(try object(summary)["count"] as? Int == 50)
        }
    }

    @Test func recordsThatHaveBeenMovedAreNotNeeded() async throws {
        try await withSite { site in
            let moved = try await site.run(["--post-shard", "rm \"$@\""])
            #expect(moved.status == 0)
            let again = site.folder + "-again"
            #expect(try await site.run(["--failed-to", again]).status == 0)
            #expect(try lines(again).sorted() == busyLines(site.list))
        }
    }

    @Test func linesOfMarkersWithoutCountsAreReportedAsUnknown() async throws {
        try await withSite { site in
            #expect(try await site.run().status == 0)
            try changeMarkers(site.folder) { $0["successes"] = nil }
            try removeMarkers("00001", in: site.folder)
            let summary = site.folder + "-summary"
            let result = try await site.run(["--summary", summary])
            #expect(result.status == 0)
            #expect(result.errors.contains("the results of 30 lines of an earlier run are unknown"), "\(result.errors)")
            let counts = try object(summary)
            #expect(counts["count"] as? Int == 20 && counts["unknown_count"] as? Int == 30)
            #expect((counts["earlier"] as? [String: Any])?["count"] as? Int == 0)
            #expect(try await site.run(["--fail-on-error"]).status == 1)
        }
    }

    @Test func resultsOfAPartAreThoseOfItsShards() async throws {
        try await withSite(60) { site in
            let (summary, again) = (site.folder + "-summary", site.folder + "-again")
            let options = ["--summary", summary, "--failed-to", again]
            let entries = site.list.split(separator: "\n")
            let first = busyLines((entries[..<20] + entries[40...]).joined(separator: "\n"))
            for earlierCount in [0, 40] {
                #expect(try await site.run(["--part", "0/2"] + options).status == 0)
                let counts = try object(summary)
                #expect(counts["count"] as? Int == 40 && counts["skipped_count"] as? Int == 20)
                #expect((counts["earlier"] as? [String: Any])?["count"] as? Int == earlierCount)
                #expect(try lines(again).sorted() == first)
            }
            #expect(try await site.run(["--part", "1/2"] + options).status == 0)
            let counts = try object(summary)
            #expect(counts["count"] as? Int == 20 && counts["skipped_count"] as? Int == 40)
            #expect(try lines(again).sorted() == busyLines(entries[20..<40].joined(separator: "\n")))
            // Without --part, the same folder has the results of all parts.
            #expect(try await site.run(options).status == 0)
            #expect(try object(summary)["count"] as? Int == 60)
            #expect(try lines(again).sorted() == busyLines(site.list))
        }
    }

    @Test func summaryCountsTheImagesOfIncompleteShardsOnTheirOwn() async throws {
        try await withSite(40) { site in
            for line in [3, 13] { site.origin.route("/busy/\(line)", LoopbackOrigin.Response(body: site.photograph)) }
            let summary = site.folder + "-summary"
            // Two of the lines of the second shard fail.
            let options = ["--max-retryable-rate", "0.05", "--summary", summary]
            #expect(try await site.run(options).status == 75)
            var counts = try object(summary)
            #expect(counts["count"] as? Int == 20 && counts["successes"] as? Int == 18)
            #expect(counts["incomplete_count"] as? Int == 20)

            // Written in spite of the failures, and not written again because of them.
            #expect(try await site.run().status == 0)
            #expect(try await site.run(options + ["--retry-failed"]).status == 75)
            counts = try object(summary)
            #expect(counts["count"] as? Int == 38 && counts["successes"] as? Int == 34)
            #expect(counts["incomplete_count"] as? Int == 2)
        }
    }

    @Test func linesOfOtherHostPartsAreSkipped() async throws {
        try await withSite(40) { site in
            // All lines have one host, so that one of the parts has none.
            var totals: [Int] = []
            for part in ["0/2", "1/2"] {
                let summary = site.folder + "-summary"
                let result = try await site.run(["--part", part, "--part-by", "host", "--summary", summary])
                #expect(result.status == 0)
                let counts = try object(summary)
                let count = try #require(counts["count"] as? Int)
                #expect(counts["skipped_count"] as? Int == 40 - count)
                totals.append(count)
            }
            #expect(totals.sorted() == [0, 40])
        }
    }

    @Test func resultsOfAnAdditionalListAreItsOwn() async throws {
        try await withSite(40) { site in
            #expect(try await site.run(list: site.origin.url("/ok/first")).status == 0)
            #expect(try await site.run(["--extend"]).status == 0)
            try removeMarkers("00002", in: site.folder)
            let (summary, again) = (site.folder + "-summary", site.folder + "-again")
            #expect(try await site.run(["--extend", "--summary", summary, "--failed-to", again]).status == 0)
            let counts = try object(summary)
            #expect(counts["count"] as? Int == 40 && counts["skipped_count"] as? Int == 0)
            #expect((counts["earlier"] as? [String: Any])?["count"] as? Int == 20)
            #expect(try lines(again).sorted() == busyLines(site.list))
        }
    }

    @Test func linesThatWereRetriedWithSuccessAreNoLongerListed() async throws {
        try await withSite { site in
            let first = try await site.run()
            #expect(first.status == 0)
            for number in [3, 23, 43] {
                site.origin.route("/busy/\(number)", LoopbackOrigin.Response(body: site.photograph))
            }
            let again = site.folder + "-again"
            let failing = busyLines(site.list).filter { $0.contains("/busy/13") || $0.contains("/busy/33") }
            #expect(try await site.run(["--retry-failed", "--failed-to", again]).status == 0)
            #expect(try lines(again).sorted() == failing)
            #expect(try object(site.folder + "/00000_stats.json")["retryable_rows"] as? [Int] == [13])
            let requests = site.origin.counts.totalRequests
            #expect(try await site.run(["--failed-to", again]).status == 0)
            #expect(site.origin.counts.totalRequests == requests)
            #expect(try lines(again).sorted() == failing)
        }
    }

    @Test func failedLinesOfAllRunsFollowOneHeader() async throws {
        try await withSite(40) { site in
            let urls = site.list.split(separator: "\n").map { line in
                String(line.split(separator: "\"")[3])
            }
            let list = "n,url\n" + urls.enumerated().map { "\($0),\($1)\n" }.joined()
            let format = ["--input-format", "csv"]
            #expect(try await site.run(format, list: list).status == 0)
            try removeMarkers("00001", in: site.folder)
            let again = site.folder + "-again"
            #expect(try await site.run(format + ["--failed-to", again], list: list).status == 0)
            let failed = try lines(again)
            #expect(failed.first == "n,url")
            #expect(failed.dropFirst().sorted() == busyLines(list))
        }
    }

    @Test func runWithAnotherListReplacesNoResults() async throws {
        try await withSite(40) { site in
            #expect(try await site.run().status == 0)
            let (summary, again) = (site.folder + "-summary", site.folder + "-again")
            let options = ["--summary", summary, "--failed-to", again]
            #expect(try await site.run(options).status == 0)
            let before = [try lines(summary), try lines(again)]
            let other = try await site.run(options, list: site.list.replacing("/ok/25", with: "/ok/other"))
            #expect(other.status == 65)
            let after = [try lines(summary), try lines(again)]
            #expect(after == before)
            #expect(try lines(again).sorted() == busyLines(site.list))
        }
    }
}
