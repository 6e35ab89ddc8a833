import HTTPTransport
import LoopbackOrigin
import Testing
import Threading

@testable import AsyncWebImage

/// The hooks with which an application changes or rejects downloads.
@Suite(.timeLimit(.minutes(2)))
struct HookTests {
    private struct No: Error, CustomStringConvertible {
        let description = "not today"
    }

    private static let signature = name("X-Signature")
    private static let banned = name("X-Banned")
    private static let plain = name("X-Plain")

    private static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("a valid name") }
        return name
    }

    private func loader(_ change: (inout DownloadConfiguration) -> Void) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration)
    }

    // MARK: Requests

    private struct Modifier: RequestModifier {
        let body: @Sendable (TransportRequest) async throws -> TransportRequest

        func modify(_ request: TransportRequest) async throws -> TransportRequest { try await body(request) }
    }

    @Test func requestModifierCanReplaceTheWholeRequest() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/there") { .init(body: Array(($0.headerFields["X-Signature"] ?? "none").utf8)) }
            let there = origin.url("/there")
            let loader = loader {
                $0.requestModifier = Modifier { request in
                    #expect(request.headerFields[.accept]?.contains("image/png") == true)
                    await Task.yield()
                    var request = request
                    request.url = try HTTPURL(there)
                    request.headerFields[Self.signature] = "signed"
                    return request
                }
            }
            let data = try await loader.data(for: ImageRequest(origin.url("/here")))
            #expect(data.bytes == Array("signed".utf8))
            #expect(origin.counts.requests["/here"] == nil)
        }
    }

    @Test func requestModifierCanRejectARequest() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let loader = loader { $0.requestModifier = Modifier { _ in throw No() } }
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/a")))
            }
            guard case .rejected(by: .requestModifier, let url, let cause) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(url == origin.url("/a"))
            #expect(cause is No)
            #expect(error?.description == "rejected by the application's request modifier: not today")
            #expect(origin.counts.totalRequests == 0)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cancelingDuringRequestModifierSendsNoRequest() async throws {
        try await withLoopbackOrigin { origin in
            let isAsked = OneShot<Void>()
            let loader = loader {
                $0.requestModifier = Modifier { request in
                    isAsked.resolve(.success(()))
                    await untilCancelled()
                    return request
                }
            }
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            try await isAsked.value
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 0)
        }
    }

    // MARK: Responses

    private struct Validator: ResponseValidator {
        let body: @Sendable (ResponseHead) async throws -> Void

        func validate(_ head: ResponseHead, to request: TransportRequest) async throws { try await body(head) }
    }

    @Test func responseValidatorCanRejectResponseBeforeItsBody() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(headerFields: ["X-Banned": "yes"], body: try Samples.file(.png)))
            let loader = loader {
                $0.responseValidator = Validator { head in
                    await Task.yield()
                    if head.response.headerFields[Self.banned] != nil { throw No() }
                }
            }
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/a")))
            }
            guard case .rejected(by: .responseValidator, _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func responseValidatorCanAcceptAResponse() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.png", .init(body: try Samples.file(.png, 300, 200)))
            let loader = loader { $0.responseValidator = Validator { _ in await Task.yield() } }
            let answer = try await loader.image(for: ImageRequest(origin.url("/a.png")))
            #expect(answer.pixels == Samples.picture(300, 200))
            #expect(try await loader.info(for: ImageRequest(origin.url("/a.png"))).header.format == .png)
        }
    }

    @Test func responseValidatorKnowsTheRequestBeforeRedirects() async throws {
        final class Recording: ResponseValidator {
            let paths = Locked<[String]>([])
            func validate(_ head: ResponseHead, to request: TransportRequest) async throws {
                paths.withLock { $0 = [String(request.url.path), String(head.url.path)] }
            }
        }
        try await withLoopbackOrigin { origin in
            origin.route("/a", .redirect(to: "/b"))
            origin.route("/b", .init(body: [1]))
            let validator = Recording()
            let loader = loader { $0.responseValidator = validator }
            _ = try await loader.data(for: ImageRequest(origin.url("/a")))
            #expect(validator.paths.withLock { $0 } == ["/a", "/b"])
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func responseValidatorIsNotCalledForFailures() async throws {
        try await withLoopbackOrigin { origin in
            let loader = loader {
                $0.responseValidator = Validator { _ in Issue.record("called for a 404") }
            }
            let error = await #expect(throws: ImageError.self) {
                try await loader.data(for: ImageRequest(origin.url("/missing")))
            }
            #expect(error?.httpStatus == 404)
        }
    }

    @Test func statusesAndTypesAreAcceptedAsConfigured() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/teapot", .init(status: 418, headerFields: ["Content-Type": "image/x-tea"], body: [1]))
            origin.route("/page", .init(headerFields: ["Content-Type": "Text/HTML; charset=utf-8"], body: [1]))
            origin.route("/silent", .init(body: [1]))
            let loader = loader {
                $0.acceptedStatuses = 200...499
                $0.acceptedContentTypes = ["image/*", "application/octet-stream"]
            }
            let teapot = try await loader.data(for: ImageRequest(origin.url("/teapot")))
            let silent = try await loader.data(for: ImageRequest(origin.url("/silent")))
            #expect(teapot.bytes == [1])
            #expect(silent.bytes == [1])
            let error = await #expect(throws: ImageError.self) {
                try await loader.data(for: ImageRequest(origin.url("/page")))
            }
            guard case .unacceptableType = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description == "the content type Text/HTML; charset=utf-8 is not accepted")
        }
    }

    // MARK: Bodies

    /// Undoes an exclusive or, and counts its input.
    private struct Cipher: BodyTransform {
        struct Transformer: BodyTransformer {
            var isAtEnd = false

            mutating func transform(_ bytes: [UInt8]) async throws -> [UInt8] {
                await Task.yield()
                return bytes.map { $0 ^ 0x5A }
            }

            mutating func finish() async throws -> [UInt8] { [] }
        }

        func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? {
            head.response.headerFields[HookTests.plain] == nil ? Transformer() : nil
        }
    }

    @Test func aBodyIsTransformedAsItArrives() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            let gate = Gate()
            origin.route("/secret", .init(body: file.map { $0 ^ 0x5A }).held(at: .body(file.count / 2), until: gate))
            origin.route("/plain", .init(headerFields: ["X-Plain": "yes"], body: file))
            let loader = loader { $0.bodyTransform = Cipher() }
            var frames = loader.previews(for: ImageRequest(origin.url("/secret"))).makeAsyncIterator()
            let preview = try await frames.next()
            #expect(preview?.isFinal == false)
            gate.open()
            var last = preview
            while let frame = try await frames.next() { last = frame }
            #expect(last?.pixels == Samples.picture(300, 200))
            let answer = try await loader.data(for: ImageRequest(origin.url("/secret")))
            #expect(answer.bytes == file)
            let again = try await loader.data(for: ImageRequest(origin.url("/plain")))
            #expect(again.bytes == file)
        }
    }

    @Test func transformedBodyIsNotResumed() async throws {
        try await withLoopbackOrigin { origin in
            let file = RangedFile(body: (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            origin.route("/a") { request in
                let response = file.response(to: request)
                return request.ordinal == 1 ? response.cut(at: .body(100_000)) : response
            }
            let clock = ManualClock()
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.retry = ExponentialBackoff(base: .seconds(1))
            configuration.downloads.bodyTransform = Cipher()
            let loader = ImageLoader(configuration: configuration, clock: clock)
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            _ = await clock.nextSleep()
            await loader.coordinator.configure { $0.bodyTransform = nil }
            clock.advance(by: .seconds(100))
            let data = try await task.value
            #expect(data.bytes == file.body)
            #expect(origin.recordedRequests(to: "/a").map { $0.headerFields["Range"] } == [nil, nil])
        }
    }

    /// Returns ten bytes for each byte.
    private struct Inflation: BodyTransform {
        struct Transformer: BodyTransformer {
            mutating func transform(_ bytes: [UInt8]) async throws -> [UInt8] {
                [UInt8](repeating: 7, count: bytes.count * 10)
            }
            mutating func finish() async throws -> [UInt8] { [1] }
        }

        func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? { Transformer() }
    }

    @Test func transformedBodyIsSubjectToMaximumBodyBytes() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/small", .init(body: [UInt8](repeating: 1, count: 9)))
            origin.route("/large", .init(body: [UInt8](repeating: 1, count: 11)))
            let loader = loader {
                $0.bodyTransform = Inflation()
                $0.maximumBodyBytes = 100
            }
            let small = try await loader.data(for: ImageRequest(origin.url("/small")))
            #expect(small.bytes.count == 91)
            let error = await #expect(throws: ImageError.self) {
                try await loader.data(for: ImageRequest(origin.url("/large")))
            }
            guard case .transport(let cause) = error, case .bodyTooLarge(100) = cause.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    private struct Broken: BodyTransform {
        struct Transformer: BodyTransformer {
            mutating func transform(_ bytes: [UInt8]) async throws -> [UInt8] { [] }
            mutating func finish() async throws -> [UInt8] { throw No() }
        }

        func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? { Transformer() }
    }

    @Test func bodyTransformCanFailAtTheEnd() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            let loader = loader { $0.bodyTransform = Broken() }
            let error = await #expect(throws: ImageError.self) {
                try await loader.data(for: ImageRequest(origin.url("/a")))
            }
            guard case .rejected(by: .bodyTransform, _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func largeTransformedBodyArrivesWhole() async throws {
        try await withLoopbackOrigin { origin in
            let body = [UInt8](repeating: 0x5A, count: 3 << 20)
            origin.route("/a", .init(body: body))
            let loader = loader { $0.bodyTransform = Cipher() }
            let data = try await loader.data(for: ImageRequest(origin.url("/a")))
            #expect(data.bytes == [UInt8](repeating: 0, count: 3 << 20))
        }
    }
}
