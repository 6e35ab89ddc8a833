import HTTPTransport
import ImageEncoders
import LoopbackOrigin
import Testing

@testable import AsyncWebImage

// An attempt continues where the previous one was interrupted, if the server proves that the file is unchanged.
extension AttemptTests {
    /// Returns the ranges of the requests for `/a`.
    private func ranges(_ origin: LoopbackOrigin) -> [String?] {
        origin.recordedRequests(to: "/a").map { $0.headerFields["Range"] }
    }

    /// Interrupts the first response, replaces the second one by `second`, and serves all others as requested.
    private func route(_ origin: LoopbackOrigin, second: LoopbackOrigin.Response) {
        let file = RangedFile(body: noise)
        origin.route("/a") { request in
            switch request.ordinal {
            case 1: file.response(to: request).cut(at: .body(60_000))
            case 2: second
            default: file.response(to: request)
            }
        }
    }

    @Test func interruptedTransferResumesAtReceivedOffset() async throws {
        try await withLoopbackOrigin { origin in
            let file = RangedFile(body: noise)
            origin.route("/a") { request in
                let response = file.response(to: request)
                return request.ordinal < 3 ? response.cut(at: .body(60_000)) : response
            }
            let loader = loader()
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            await passTime()
            await passTime()

            let answer = try await data
            #expect(answer.bytes == noise)
            #expect(answer.head.status == .ok)
            #expect(answer.head.contentLength == noise.count)
            #expect(ranges(origin) == [nil, "bytes=60000-", "bytes=120000-"])
        }
    }

    @Test func failedAttemptKeepsReceivedBytes() async throws {
        try await withLoopbackOrigin { origin in
            route(origin, second: .init(status: 503))
            let loader = loader()
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            await passTime()
            await passTime()
            let answer = try await data
            #expect(answer.bytes == noise)
            #expect(ranges(origin) == [nil, "bytes=60000-", "bytes=60000-"])
        }
    }

    @Test func partialBodyIsKeptWhenCanceledBetweenAttempts() async throws {
        try await withLoopbackOrigin { origin in
            route(origin, second: .init(status: 404))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            _ = await clock.nextSleep()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
            // A failed attempt to resume does not discard the partial body either.
            await #expect(throws: ImageError.self) { try await loader.data(for: ImageRequest(origin.url("/a"))) }
            let answer = try await loader.data(for: ImageRequest(origin.url("/a")))
            #expect(answer.bytes == noise)
            #expect(ranges(origin) == [nil, "bytes=60000-", "bytes=60000-"])
        }
    }

    /// Its bytes are counted from the beginning of the part, and those of a range from that of the file.
    @Test(arguments: [true, false]) func partRequestedByTheCallerIsRequestedAgain(isRetried: Bool) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let part = Array(noise[50_000...])
            let fields: HeaderFields = [
                "ETag": "\"v1\"", "Content-Range": "bytes 50000-\(noise.count - 1)/\(noise.count)",
            ]
            let response = LoopbackOrigin.Response(status: 206, headerFields: fields, body: part)
            origin.route("/a", [response.cut(at: .body(60_000)), response])
            let loader = loader { if !isRetried { $0.retry = nil } }
            let request = ImageRequest(origin.url("/a"), headerFields: [.range: "bytes=50000-"])
            let first = loader.dataTask(for: request)
            if isRetried {
                await passTime()
                #expect(try await first.value.bytes == part)
            } else {
                await #expect(throws: ImageError.self) { try await first.value }
                await loader.coordinator.becomesIdle()
                #expect(try await loader.data(for: request).bytes == part)
            }
            #expect(ranges(origin) == ["bytes=50000-", "bytes=50000-"])
        }
    }

    @Test func resumptionStartsAfterReceivedBytes() throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let url = try HTTPURL("http://example.com/a")
        let receiver = DownloadReceiver(url: url, log: log, rules: ResponseRules(DownloadConfiguration())) {}
        receiver.receive(
            ResponseHead(response: .init(status: .ok, headerFields: [.eTag: "\"v1\"", .contentLength: "10"]), url: url))
        _ = receiver.receive([UInt8](repeating: 1, count: 6).span)
        // Two more can have arrived since the first four were read.
        #expect(receiver.resumption(after: BodyPosition(restarts: log.lastPosition.restarts, count: 4))?.offset == 4)
    }

    /// Between two attempts, the log can discard the bytes that the second one was to continue.
    @Test func attemptWithoutResponseIsResumedOnlyIfTheLogStillHasItsBytes() throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let url = try HTTPURL("http://example.com/a")
        let rules = ResponseRules(DownloadConfiguration())
        let first = DownloadReceiver(url: url, log: log, rules: rules) {}
        first.receive(
            ResponseHead(response: .init(status: .ok, headerFields: [.eTag: "\"v1\"", .contentLength: "10"]), url: url))
        #expect(first.receive([UInt8](repeating: 1, count: 6).span) == .more)

        let second = DownloadReceiver(
            url: url, log: log, rules: rules, continuing: first.resumption(after: log.lastPosition)
        ) {}
        #expect(second.resumption(after: BodyPosition(restarts: 0, count: 0)) == nil)
        #expect(second.resumption(after: log.lastPosition)?.offset == 6)
    }

    /// A response can arrive after the pieces of a canceled download have been taken, and before its head is read.
    @Test func bytesOfEarlierVersionAreNotContinuedWithTheHeadOfLaterOne() throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let url = try HTTPURL("http://example.com/a")
        let rules = ResponseRules(DownloadConfiguration())
        func head(_ version: String, _ length: String) -> ResponseHead {
            ResponseHead(
                response: .init(status: .ok, headerFields: [.eTag: version, .contentLength: length]), url: url)
        }
        let first = DownloadReceiver(url: url, log: log, rules: rules) {}
        first.receive(head("\"v1\"", "10"))
        #expect(first.receive([UInt8](repeating: 1, count: 6).span) == .more)
        let end = try #require(log.beginning).end
        #expect(end.count == 6)

        let second = DownloadReceiver(url: url, log: log, rules: rules, continuing: first.resumption(after: end)) {}
        second.receive(head("\"v2\"", "20"))
        #expect(second.resumption(after: end) == nil)
        #expect(second.receive([UInt8](repeating: 2, count: 2).span) == .more)
        #expect(second.resumption(after: log.lastPosition)?.offset == 2)
    }

    /// Each part is compared with the limit of the whole body.
    @Test func continuedBodyIsNotReadToTheMemoryOfTheBody() throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let url = try HTTPURL("http://example.com/a")
        let first = DownloadReceiver(url: url, log: log, rules: ResponseRules(DownloadConfiguration())) {}
        first.receive(
            ResponseHead(response: .init(status: .ok, headerFields: [.eTag: "\"v1\"", .contentLength: "10"]), url: url))
        #expect(first.receive([UInt8](repeating: 1, count: 6).span) == .more)
        #expect(first.receive(upTo: 4) { _ in } == .more)

        let second = DownloadReceiver(
            url: url, log: log, rules: ResponseRules(DownloadConfiguration()),
            continuing: first.resumption(after: log.lastPosition)
        ) {}
        second.receive(
            ResponseHead(
                response: .init(
                    status: .partialContent,
                    headerFields: [.eTag: "\"v1\"", .contentRange: "bytes 6-9/10", .contentLength: "4"]), url: url))
        #expect(second.receive([UInt8](repeating: 1, count: 2).span) == .more)
        #expect(second.receive(upTo: 2) { _ in } == nil)
    }

    @Test func truncationErrorOfContinuedBodyCanDeclareTheLargestLength() throws {
        var configuration = DownloadConfiguration()
        configuration.maximumBodyBytes = .max
        let rules = ResponseRules(configuration)
        let length = Int.max - 1
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let url = try HTTPURL("http://example.com/a")
        let first = DownloadReceiver(url: url, log: log, rules: rules) {}
        first.receive(
            ResponseHead(
                response: .init(status: .ok, headerFields: [.eTag: "\"v1\"", .contentLength: "\(length)"]), url: url))
        #expect(first.receive([UInt8](repeating: 1, count: 6).span) == .more)

        let second = DownloadReceiver(
            url: url, log: log, rules: rules, continuing: first.resumption(after: log.lastPosition)
        ) {}
        let fields: HTTPFields = [
            .eTag: "\"v1\"", .contentRange: "bytes 6-\(length - 1)/\(length)", .contentLength: "\(length - 6)",
        ]
        second.receive(ResponseHead(response: .init(status: .partialContent, headerFields: fields), url: url))
        #expect(second.receive([UInt8](repeating: 1, count: 2).span) == .more)
        second.finish(.failed(TransportError(url: url.string, reason: .truncated(expected: length - 6, received: 2))))
        guard case .failed(.transport(let error))? = second.failure else {
            Issue.record("no error of the transport")
            return
        }
        #expect(error.reason == .truncated(expected: length, received: 8))
    }

    @Test func decodeAndPreviewsContinueAcrossAttempts() async throws {
        try await withLoopbackOrigin { origin in
            let body = try Samples.file(.png, 300, 200)
            let file = RangedFile(body: body)
            origin.route("/a") { request in
                let response = file.response(to: request)
                return request.ordinal == 1 ? response.cut(at: .body(body.count / 2)) : response
            }
            let loader = loader()
            async let image = loader.image(for: ImageRequest(origin.url("/a")))
            await passTime()
            let answer = try await image
            #expect(answer.pixels == Samples.picture(300, 200))
            let again = try await image
            #expect(again.byteCount == body.count)
        }
    }

    @Test func changedFileRestartsTheDownloadFromZero() async throws {
        try await withLoopbackOrigin { origin in
            let old = RangedFile(body: noise)
            let body = try Samples.file(.png, 300, 200)
            let new = RangedFile(body: body, tag: "\"v2\"")
            origin.route("/a") { request in
                request.ordinal == 1 ? old.response(to: request).cut(at: .body(100_000)) : new.response(to: request)
            }
            let loader = loader()
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            await passTime()
            let answer = try await data
            #expect(answer.bytes == body)
        }
    }

    @Test func decodersStartAgainWithAFileThatHasChanged() async throws {
        try await withLoopbackOrigin { origin in
            let other = try Samples.picture(300, 200).encoded(as: .gif)
            let body = try Samples.file(.png, 300, 200)
            origin.route("/a") { request in
                request.ordinal == 1
                    ? RangedFile(body: other).response(to: request).cut(at: .body(other.count / 2))
                    : RangedFile(body: body, tag: "\"v2\"").response(to: request)
            }
            // The first bytes are dropped as soon as they are decoded.
            let loader = loader { $0.maximumReplayBytes = 0 }
            async let image = loader.image(for: ImageRequest(origin.url("/a")))
            await passTime()
            let answer = try await image
            #expect(answer.pixels == Samples.picture(300, 200))
            let again = try await image
            #expect(again.image.header.format == .png)
        }
    }

    @Test func responseWithoutValidatorIsFetchedAgainCompletely() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", [.init(body: noise).cut(at: .body(60_000)), .init(body: noise)])
            let loader = loader()
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            await passTime()
            let answer = try await data
            #expect(answer.bytes == noise)
            #expect(origin.recordedRequests(to: "/a").allSatisfy { $0.headerFields["Range"] == nil })
        }
    }

    enum Lie: CaseIterable, Sendable {
        case otherPart, otherTotal, notSatisfiable, encoded, longer, withoutVersion

        func response(_ body: [UInt8]) -> LoopbackOrigin.Response {
            switch self {
            case .otherPart: part("bytes 50000-199999/200000", Array(body[50_000...]))
            case .otherTotal: part("bytes 60000-199999/300000", Array(body[60_000...]))
            case .notSatisfiable: .init(status: 416)
            case .encoded: part("bytes 60000-199999/200000", Array(body[60_000...]), ["Content-Encoding": "gzip"])
            case .longer: part("bytes 60000-199999/200000", body[60_000...] + [1], framing: .chunked)
            case .withoutVersion:
                .init(
                    status: 206, headerFields: ["Content-Range": "bytes 60000-199999/200000"],
                    body: body[60_000...].map { ~$0 })
            }
        }

        private func part(
            _ range: String, _ body: [UInt8], _ fields: HeaderFields = [:],
            framing: LoopbackOrigin.Response.Framing = .contentLength
        ) -> LoopbackOrigin.Response {
            var fields = fields
            fields.append("ETag", "\"v1\"")
            fields.append("Content-Range", range)
            return .init(status: 206, headerFields: fields, body: body, framing: framing)
        }
    }

    @Test(arguments: Lie.allCases)
    func unexpected206RestartsTheDownload(_ lie: Lie) async throws {
        try await withLoopbackOrigin { origin in
            let file = RangedFile(body: noise)
            origin.route("/a") { request in
                if request.ordinal == 1 { return file.response(to: request).cut(at: .body(60_000)) }
                guard request.headerFields["Range"] != nil else { return file.response(to: request) }
                return lie.response(noise)
            }
            let loader = loader()
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            await passTime()
            let answer = try await data
            #expect(answer.bytes == noise)
            #expect(ranges(origin) == [nil, "bytes=60000-", nil])
        }
    }

    @Test func serverThatRejectsRangesGetsOneRangeRequest() async throws {
        try await withLoopbackOrigin { origin in
            let file = RangedFile(body: noise)
            origin.route("/a") { request in
                request.headerFields["Range"] == nil
                    ? file.response(to: request).cut(at: .body(60_000)) : .init(status: 416)
            }
            let loader = loader { $0.retry = ExponentialBackoff(maximumAttempts: 5, base: .seconds(1)) }
            let data = loader.dataTask(for: ImageRequest(origin.url("/a")))
            for _ in 0..<4 { await passTime() }
            await #expect(throws: ImageError.self) { try await data.value }
            let asked = origin.recordedRequests(to: "/a").compactMap { $0.headerFields["Range"] }
            #expect(asked == ["bytes=60000-"])
        }
    }

    @Test func newRequestResumesCanceledDownload() async throws {
        try await withLoopbackOrigin { origin in
            let file = RangedFile(body: noise)
            let gate = Gate()
            origin.route("/a") { request in
                let response = file.response(to: request)
                return request.ordinal == 1 ? response.held(at: .body(100_000), until: gate) : response
            }
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            for await progress in task.progress where progress.received == 100_000 { break }
            task.cancel()
            await loader.coordinator.becomesIdle()

            let data = try await loader.data(for: ImageRequest(origin.url("/a")))
            #expect(data.bytes == noise)
            #expect(data.head.status == .ok)
            #expect(origin.recordedRequests(to: "/a").last?.headerFields["Range"] == "bytes=100000-")
            // Used data is not kept.
            let answer = try await loader.data(for: ImageRequest(origin.url("/a")))
            #expect(answer.bytes == noise)
            #expect(origin.recordedRequests(to: "/a").last?.headerFields["Range"] == nil)
            gate.open()
        }
    }

    @Test func maximumBodyBytesAppliesAcrossResumedAttempts() async throws {
        try await withLoopbackOrigin { origin in
            let file = RangedFile(body: noise)
            origin.route("/a") { request in
                guard request.ordinal > 1 else {
                    var response = file.response(to: request)
                    response.framing = .chunked
                    return response.cut(at: .body(60_000))
                }
                var response = file.response(to: request)
                response.framing = .chunked
                return response
            }
            let loader = loader { $0.maximumBodyBytes = 150_000 }
            let data = loader.dataTask(for: ImageRequest(origin.url("/a")))
            await passTime()
            let error = await #expect(throws: ImageError.self) { try await data.value }
            guard case .transport(let cause) = error, case .bodyTooLarge(150_000) = cause.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
