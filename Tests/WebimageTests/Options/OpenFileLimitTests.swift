import Foundation
import LoopbackOrigin
import Testing

/// The command in processes that can open few files: images fail one by one, if at all, and no signal ends a process.
@Suite(.timeLimit(.minutes(3)))
struct OpenFileLimitTests {
    private let gif: [UInt8] =
        Array("GIF89a".utf8) + [
            1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1,
        ]
        + [0, 0x3B]

    /// Returns a shell command that starts the command in a process that may open `count` files.
    private func limited(to count: Int) -> String { "ulimit -n \(count); exec \"$@\"" }

    @Test(arguments: [4, 8, 12, 16])
    func tooLowDescriptorLimitIsOneClearError(limit: Int) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                for arguments in [["get", "-o", folder, origin.url("/a.gif")], ["info", origin.url("/a.gif")]] {
                    let result = try await Command.run(arguments, by: limited(to: limit))
                    #expect(result.status == 1)
                    #expect(
                        result.errors.hasPrefix("webimage: this process can open at most \(limit) files"),
                        "\(result.errors)")
                    #expect(result.errors.split(separator: "\n").count == 1)
                }
                #expect(origin.counts.totalRequests == 0)
            }
        }
    }

    /// Dozens of images whose responses wait for each other are all written: only as many are processed at a time as
    /// there are descriptors for.
    @Test(arguments: [24, 32, 64, 256])
    func imagesWaitForDescriptors(limit: Int) async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/*", LoopbackOrigin.Response(body: gif).held(at: .body(10), until: gate))
            try await withTemporaryFolder { folder in
                // By name, so that it is looked up.
                let urls = (0..<60).map { "http://localhost:\(origin.port)/\($0).gif" }
                let arguments = ["get", "-o", folder, "--concurrency", "60", "--per-host", "60", "--input", "-"]
                let result = try await Command.run(
                    arguments, input: urls.joined(separator: "\n"), by: limited(to: limit)
                ) { command in
                    await origin.counts { $0.runningRequests >= (limit < 64 ? 2 : 12) }
                    gate.open()
                }
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.output.split(separator: "\n").count == 60)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 60)
                let notes = result.errors.split(separator: "\n").filter { $0.contains("at a time instead of 60") }
                #expect(notes.count == (limit < 256 ? 1 : 0), "\(result.errors)")
            }
        }
    }

    @Test(arguments: [24, 64])
    func idleConnectionsLeaveRoomForFiles(limit: Int) async throws {
        var origins: [LoopbackOrigin] = []
        for _ in 0..<40 {
            let origin = try await LoopbackOrigin.start()
            origin.route("/*", LoopbackOrigin.Response(body: gif))
            origins.append(origin)
        }
        try await withTemporaryFolder { folder in
            let urls = (0..<3).flatMap { round in origins.map { $0.url("/\(round).gif") } }
            let result = try await Command.run(
                ["get", "-o", folder, "--cache", folder + "/cache", "--input", "-"],
                input: urls.joined(separator: "\n"), by: limited(to: limit))
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.split(separator: "\n").count == 120)
        }
        for origin in origins { await origin.stop() }
    }

    /// Many small shards are open at a time, each with several files.
    @Test(arguments: [(24, 74), (40, 0), (64, 0)], ["webdataset", "files"])
    func openShardsLeaveDescriptorsForEverythingElse(limit: (files: Int, status: Int32), form: String) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let urls = (0..<40).map { "http://localhost:\(origin.port)/\($0).gif" }
                let result = try await Command.run(
                    ["batch", "--input", "-", "-o", folder, "--samples-per-shard", "2", "--output-format", form],
                    input: urls.joined(separator: "\n"), by: limited(to: limit.files))
                #expect(result.status == limit.status, "\(result.errors)")
                // Either that there are too few, or that fewer images are processed at a time.
                #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(names.count { $0.hasSuffix("_stats.json") } == (limit.status == 0 ? 20 : 0))
                #expect(limit.status == 0 || origin.counts.totalRequests == 0)
            }
        }
    }

    @Test func maximumConcurrencyWorksWithTheUsualDescriptorLimit() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let urls = (0..<1_200).map { origin.url("/\($0).gif") }
                let result = try await Command.run(
                    ["get", "-o", folder, "--concurrency", "1024", "--input", "-"],
                    input: urls.joined(separator: "\n"), by: limited(to: 1_024))
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.output.split(separator: "\n").count == 1_200)
                #expect(result.errors.contains("images at a time instead of 1024"))
            }
        }
    }

    @Test func descriptorLimitIsRaisedAsFarAsTheSystemAllows() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let result = try await Command.run(
                    ["get", "-o", folder, "--concurrency", "60", origin.url("/a.gif")], by: "ulimit -Sn 16; exec \"$@\""
                )
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.errors.isEmpty)
            }
        }
    }

    @Test func retryDelayWorksWithFewDescriptors() async throws {
        try await withLoopbackOrigin { origin in
            // The delay before the second try is the first time that anything sleeps.
            origin.route("/*", LoopbackOrigin.Response(status: 503))
            try await withTemporaryFolder { folder in
                let urls = (0..<40).map { origin.url("/\($0).gif") }
                let result = try await Command.run(
                    ["get", "-o", folder, "--retries", "1"] + urls, by: limited(to: 24))
                #expect(result.status == 1)
                #expect(result.errors.split(separator: "\n").filter { $0.contains("503") }.count == 40)
            }
        }
    }
}
