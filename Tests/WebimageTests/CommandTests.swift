import WebimageConsole
import Foundation
import LoopbackOrigin
import TestSupport
import Testing

/// The built command, as a shell runs it.
@Suite(.timeLimit(.minutes(2)))
struct CommandTests {
    private let gif: [UInt8] =
        Array("GIF89a".utf8) + [
            1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1,
        ]
        + [0, 0x3B]

    /// The GIF with a comment of 1 MB.
    private var largeGIF: [UInt8] {
        let block = [UInt8](repeating: 255, count: 256)
        return gif[..<19] + [0x21, 0xFE] + (0..<4_000).flatMap { _ in block } + [0] + gif[19...]
    }

    @Test func jsonOutputHasOneObjectForEveryURL() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/ok/*", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let urls = (0..<300).map { origin.url($0 % 3 == 0 ? "/missing/\($0)" : "/ok/same.gif?\($0)") }
                let list = "# all of them\n\n" + urls.joined(separator: "\n")
                let result = try await Command.run(["get", "--json", "-o", folder, "--input", "-"], input: list)

                let objects = try result.output.split(separator: "\n").map {
                    try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
                #expect(objects.compactMap { $0["url"] as? String }.sorted() == urls.sorted())
                #expect(objects.filter { $0["status"] as? String == "ok" }.count == 200)
                #expect(objects.filter { $0["http_status"] as? Int == 404 }.count == 100)
                #expect(Set(objects.compactMap { $0["path"] as? String }).count == 200)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 200)
                #expect(result.status == 1)
            }
        }
    }

    @Test(arguments: [
        (["get", "--width", "9", "a.png"], "See 'webimage get --help'"),
        (["batch", "--verify", "a", "--ordered"], "See 'webimage batch --help'"),
        (["photo.jpg"], "See 'webimage --help'"),
    ])
    func mistakesInArgumentsShowTheUsageOfTheirCommand(arguments: [String], pointer: String) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("Error: ") && result.errors.contains("\nUsage: webimage "))
        #expect(result.errors.contains(pointer), "\(result.errors)")
    }

    @Test func interruptionLeavesNothingHalfWritten() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/slow.gif", LoopbackOrigin.Response(body: gif).stalled(at: .body(10)))
            try await withTemporaryFolder { folder in
                let result = try await Command.run(["get", "-o", folder, origin.url("/slow.gif")]) { command in
                    await origin.bodyBytesSent(to: "/slow.gif", reach: 10)
                    command.interrupt()
                }
                #expect(result.status == 130)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            }
        }
    }

    @Test(arguments: ["INT", "HUP", "TERM"])
    func signalsThatWereIgnoredAtTheStartStayIgnored(name: String) async throws {
        let signals = ["INT": SIGINT, "HUP": SIGHUP, "TERM": SIGTERM]
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/slow.gif", LoopbackOrigin.Response(body: gif).held(at: .body(10), until: gate))
            try await withTemporaryFolder { folder in
                let result = try await Command.run(
                    ["get", "-o", folder, origin.url("/slow.gif")], by: "trap '' \(name); exec \"$@\""
                ) { command in
                    await origin.bodyBytesSent(to: "/slow.gif", reach: 10)
                    command.send(signals[name] ?? 0)
                    gate.open()
                }
                #expect(result.status == 0)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["slow.gif"])
            }
        }
    }

    @Test func simultaneousSignalsAreOneInterruption() async throws {
        let file = gif + [UInt8](repeating: 0, count: 400_000)
        try await withLoopbackOrigin { origin in
            let whole = LoopbackOrigin.Response(headerFields: ["ETag": "\"a\""], body: file)
            origin.route("/a.gif", whole.stalled(at: .body(200_000)))
            try await withTemporaryFolder { folder in
                let cache = folder + "/cache"
                let arguments = ["get", "--format", "original", "--cache", cache, "-o", folder, origin.url("/a.gif")]
                func stored() throws -> [(name: String, size: Int)] {
                    try cacheFiles(cache).map { name in
                        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(cache)/\(name)")
                        return (name, attributes?[.size] as? Int ?? 0)
                    }
                }
                let result = try await Command.run(arguments) { command in
                    while try !stored().contains(where: { $0.size >= 130_000 }),
                        await !command.ends(within: .milliseconds(1))
                    {}
                    // They arrive together, regardless of the time it takes to send them.
                    for signal in [SIGSTOP, SIGINT, SIGTERM, SIGCONT] { command.send(signal) }
                }
                #expect([128 + SIGINT, 128 + SIGTERM].contains(result.status))
                let names = try stored().map(\.name)
                #expect(names.count == 1 && names[0].hasSuffix(".part"), "\(names)")
            }
        }
    }

    @Test(arguments: ["2>/dev/full", "2>&-"])
    func closedStandardErrorDoesNotAffectImages(redirection: String) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/ok/*", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let urls = ["/missing", "/ok/a.gif", "/missing", "/ok/b.gif"].map { origin.url($0) }
                let script = "exec \"$@\" \(redirection)"
                let good = try await Command.run(
                    ["get", "-o", folder, urls[1], urls[3]], by: script)
                #expect(good.status == 0)
                #expect(good.output.split(separator: "\n").count == 2)
                let mixed = try await Command.run(
                    ["get", "-o", folder, "--concurrency", "1"] + urls, by: script)
                #expect(mixed.status == 1)
                #expect(mixed.output.split(separator: "\n").count == 2)
                let info = try await Command.run(["info"] + urls, by: script)
                #expect(info.status == 1)
                #expect(info.output.split(separator: "\n").count == 2)
                for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
                    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)")) == Data(gif))
                }
            }
        }
    }

    @Test func closedStandardStreamsAreErrors() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let result = try await Command.run(
                    ["get", "-o", folder, origin.url("/a.gif")], by: "exec \"$@\" 0<&- 1>&-")
                #expect(result.status == 1)
                #expect(result.errors.contains("cannot write to standard output: Bad file descriptor"))
                let list = try await Command.run(["get", "-o", folder, "--input", "-"], by: "exec \"$@\" 0<&-")
                #expect(list.errors.contains("cannot read standard input: Bad file descriptor"))
            }
        }
    }

    @Test func linesThatAreNoURLsFailAloneAndAreNamed() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.gif", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let long = origin.url("/") + String(repeating: "x", count: 1 << 20)
                let result = try await Command.run(
                    ["get", "-o", folder, "--input", "-"], input: "\u{FEFF}\(origin.url("/a.gif"))\n\(long)\n")
                #expect(result.status == 1)
                #expect(result.output.hasPrefix(folder + "/a.gif"))
                #expect(result.errors.contains("xxx...: the line is longer than 1048576 bytes\n"))
                #expect(origin.counts.totalRequests == 1)
            }
        }
    }

    @Test func partialBodyOnDiskIsResumedByNextRun() async throws {
        let comment = [UInt8](repeating: 255, count: 256)
        let file = gif[..<19] + [0x21, 0xFE] + (0..<200).flatMap { _ in comment } + [0] + gif[19...]
        try await withLoopbackOrigin { origin in
            origin.route("/a.gif") { request in
                let fields: HeaderFields = ["ETag": "\"a\""]
                guard request.headerFields["Range"] == "bytes=40000-" else {
                    return LoopbackOrigin.Response(headerFields: fields, body: Array(file)).cut(at: .body(40_000))
                }
                let range: HeaderFields = [
                    "ETag": "\"a\"", "Content-Range": "bytes 40000-\(file.count - 1)/\(file.count)",
                ]
                return LoopbackOrigin.Response(status: 206, headerFields: range, body: Array(file[40_000...]))
            }
            try await withTemporaryFolder { folder in
                let arguments = [
                    "get", "--cache", folder + "/cache", "-o", folder, "--retries", "0", origin.url("/a.gif"),
                ]
                let (first, second) = (try await Command.run(arguments), try await Command.run(arguments))
                #expect(first.status == 1 && second.status == 0)
                #expect(origin.recordedRequests.map { $0.headerFields["Range"] } == [nil, "bytes=40000-"])
            }
        }
    }

    @Test func infoReadsNoMoreThanTheHeader() async throws {
        try await withLoopbackOrigin { origin in
            let header: [UInt8] = [0, 0, 0, 9, 0, 0, 0, 7, 8, 2, 0, 0, 0, 0, 0, 0, 0]
            let beginning =
                [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + header
                + [0x7F, 0, 0, 0] + Array("IDAT".utf8)
            let endless = beginning + [UInt8](repeating: 0, count: 64 << 20)
            origin.route("/big.png", LoopbackOrigin.Response(body: endless))
            let result = try await Command.run(["info", "--json", origin.url("/big.png")])
            #expect(result.output.contains(#""format":"png","width":9,"height":7"#))
            #expect(result.status == 0)
            #expect((origin.counts.bodyBytesSent["/big.png"] ?? 0) < endless.count)
        }
    }

    @Test func infoReadsAnimationsToTheirEnd() async throws {
        // Two frames with the same image, each shown for 0.25 seconds, and three repetitions.
        var animation = Array(gif[..<19])
        animation += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 3, 0, 0]
        for _ in 0..<2 {
            animation += [0x21, 0xF9, 4, 0, 25, 0, 0, 0]
            animation += gif[19..<gif.count - 1]
        }
        animation.append(0x3B)
        let file = animation
        try await withLoopbackOrigin { origin in
            origin.route("/moving.gif", LoopbackOrigin.Response(body: file))
            let text = try await Command.run(["info", origin.url("/moving.gif")])
            #expect(text.output.hasSuffix("gif, 1x1, 2 frames, 0.5 s, 4 times, opaque\n"))
            let json = try await Command.run(["info", "--json", origin.url("/moving.gif")])
            #expect(json.output.contains(#""frames":2,"loops":4,"duration_ms":500,"#))
            #expect(json.output.contains(#""bytes_read":\#(file.count)}"#))
            #expect(origin.counts.requests["/moving.gif"] == 2, "each command sends one request")
            origin.route("/cut.gif", LoopbackOrigin.Response(body: Array(file.dropLast(9))))
            let cut = try await Command.run(["info", origin.url("/cut.gif")])
            #expect(cut.errors.contains("/cut.gif: the GIF file ends before its image is complete"))
            #expect(cut.status == 1)
        }
    }

    @Test(arguments: [
        ["get"], ["get", "--format", "original", "--max-pixel-size", "9", "a"], ["get", "--quality", "0", "a"],
        ["get", "--fit", "640", "a"], ["get", "--fit", "0x5", "a"], ["get", "--fill", "-3x5", "a"],
        ["get", "--fill", "3x5x7", "a"], ["get", "--filter", "sharp", "--fit", "9x9", "a"],
        ["get", "--filter", "box", "a"], ["get", "--fit", "9x9", "--fill", "9x9", "a"],
        ["get", "--format", "original", "--fill", "9x9", "a"], ["get", "--format", "original", "--first-frame", "a"],
        ["get", "--format", "original", "--allow-partial", "a"], ["what"],
        ["get", "--progressive-dir", "/dev/null/previews", "a", "file:///b"],
        ["get", "--cacert", "/nowhere/ca.pem", "http://127.0.0.1:1/"],
        ["info", "--cacert", "/nowhere/ca.pem", "http://127.0.0.1:1/"],
    ])
    func wrongUsageIsExplained(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains("Usage: webimage"))
        #expect(result.output.isEmpty)
    }

    @Test func argumentInAnotherEncodingIsRejected() async throws {
        try await withTemporaryFolder { folder in
            let result = try await Command.run(
                ["get", "-o", folder], by: "exec \"$@\" a.png \"$(printf 'caf\\351.png')\"")
            #expect(result.status == 64)
            #expect(result.errors.hasPrefix("Error: Argument 5 is not UTF-8.\n"), "\(result.errors)")
        }
    }

    @Test func missingListsAndFoldersAreExplained() async throws {
        for command in [["get"], ["batch", "--output", "-"]] {
            let list = try await Command.run(command + ["--input", "/nowhere/list"])
            #expect(list.errors.hasPrefix("Error: --input: cannot read /nowhere/list: No such file or directory.\n"))
            #expect(list.status == 64)
            let control = try await Command.run(command + ["--input", "/nowhere/\u{1B}[2J"])
            #expect(control.errors.hasPrefix("Error: --input: cannot read /nowhere/?[2J: No such file or directory.\n"))
        }
        let folder = try await Command.run(["get", "-o", "/dev/null/folder", "a"])
        #expect(folder.errors == "webimage: cannot create the folder /dev/null/folder: Not a directory\n")
        #expect(folder.status == 1)
        let file = try await Command.run(["get", "-o", "/etc/hostname", "a", "b"])
        #expect(file.errors.hasPrefix("Error: /etc/hostname is a file: with several sources, -o names a folder."))
        let previews = try await Command.run(["get", "--progressive-dir", "/dev/null/previews", "http://127.0.0.1:1/"])
        #expect(previews.errors == "webimage: cannot create the folder /dev/null/previews: Not a directory\n")
        #expect(previews.status == 1)
    }

    @Test(arguments: [["get"], ["batch", "--output", "-"]]) func aListCanBeANamedPipe(command: [String]) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.gif", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                // The shell writes to the pipe as soon as it is opened, and only once.
                let script = "cd \(folder); mkfifo list; echo \(origin.url("/a.gif")) > list & exec \"$@\""
                let result = try await Command.run(command + ["--input", "list"], by: script)
                #expect(result.status == 0, "\(result.errors)")
                #expect(origin.counts.requests["/a.gif"] == 1)
            }
        }
    }

    /// A Boolean value that indicates whether tests can mount file systems, which requires user namespaces or
    /// privileges.
    private static let canMount: Bool = (try? Programs.run("unshare", ["-rm", "true"])) != nil

    @Test(.enabled(if: canMount, "user namespaces are needed"))
    func aFullDiskEndsTheRunWithOneMessage() async throws {
        let large = largeGIF
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/*", LoopbackOrigin.Response(body: large))
            try await withTemporaryFolder { folder in
                let urls = (0..<20).map { origin.url("/\($0).gif") }
                let result = try await Command.run(
                    ["get", "-o", folder, "--concurrency", "1"] + urls,
                    by: """
                        exec unshare -rm sh -c 'mount -t tmpfs -o size=2100k none \(folder) && "$@"; s=$?; \
                        ls -A \(folder) | wc -l; exit $s' sh "$@"
                        """)
                #expect(result.status == 1)
                let failures = result.errors.split(separator: "\n").filter { $0.contains("No space left on device") }
                #expect(failures.count == 1, "\(failures)")
                // Images are not processed in the order of the arguments.
                #expect(failures.allSatisfy { $0.hasPrefix("webimage: cannot write \(folder)/") })
                // Two whole files, and nothing of the third.
                #expect(result.output.hasSuffix("\n2\n"), "\(result.output)")
                #expect(origin.counts.totalRequests < 6)
            }
        }
    }

    @Test(.enabled(if: !Sanitizer.isThreadSanitizer, "thread sanitizer cannot start with a limit for files"))
    func exceededFileSizeLimitFailsAndNamesTheImage() async throws {
        let large = largeGIF
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/large.gif", LoopbackOrigin.Response(body: large))
            origin.route("/small.gif", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let result = try await Command.run(
                    ["get", "-o", folder, "--concurrency", "1", origin.url("/large.gif"), origin.url("/small.gif")],
                    by: "ulimit -f 100; exec \"$@\"")
                #expect(result.status == 1)
                #expect(result.errors.contains("/large.gif: cannot write \(folder)/large.gif: File too large"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["small.gif"])
            }
        }
    }

    @Test func closedPipeEndsTheCommand() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: gif))
            try await withTemporaryFolder { folder in
                let result = try await Command.run(["get", "-o", folder, origin.url("/a.gif")], closesOutput: true)
                #expect(result.status == 1)
                #expect(result.errors.contains("standard output: Broken pipe"))
            }
        }
    }
}
