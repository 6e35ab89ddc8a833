import HTTPTransport
import Testing

@testable import AsyncWebImage

/// Partial responses (206) to requests for everything.
@Suite(.timeLimit(.minutes(1)))
struct UnrequestedPartTests {
    private static let body: [UInt8] = [1, 2, 3, 4]

    private func data(_ fields: HTTPFields, statuses: ClosedRange<Int> = 200...299) async throws -> ResponseBody {
        let transport = ScriptedTransport()
        var exchanges = transport.exchanges.makeAsyncIterator()
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.acceptedStatuses = statuses
        let loader = ImageLoader(configuration: configuration, transport: transport)
        let task = loader.dataTask(for: ImageRequest("http://example.com/a"))
        let exchange = try #require(await exchanges.next())
        exchange.answer(.partialContent, fields, Self.body)
        exchange.finish()
        return try await task.value
    }

    @Test(
        arguments: [
            [.contentRange: "bytes 0-3/4"], [.contentRange: "bytes 0-3/4", .contentLength: "4"],
        ] as [HTTPFields])
    func unrequestedPartThatIsCompleteIsAccepted(fields: HTTPFields) async throws {
        let data = try await data(fields)
        #expect(data.bytes == Self.body)
        #expect(data.head.status == .partialContent)
    }

    @Test(
        arguments: [
            [:], [.contentRange: "bytes 0-3/5"], [.contentRange: "bytes 1-4/5"], [.contentRange: "bytes 0-3/*"],
            [.contentRange: "bytes 0-3/4", .contentLength: "3"], [.contentType: "multipart/byteranges; boundary=a"],
        ] as [HTTPFields])
    func unrequestedPartIsAnError(fields: HTTPFields) async throws {
        let error = await #expect(throws: ImageError.self) { try await data(fields) }
        #expect(error?.httpStatus == 206)
    }

    @Test func unrequestedPartWithAnotherLengthIsAnError() async throws {
        await #expect(throws: ImageError.self) { try await data([.contentRange: "bytes 0-2/3"]) }
        await #expect(throws: ImageError.self) { try await data([.contentRange: "bytes 0-4/5"]) }
    }

    @Test func unrequestedPartIsAcceptedOnlyWithItsStatus() async throws {
        let error = await #expect(throws: ImageError.self) {
            try await data([.contentRange: "bytes 0-3/4"], statuses: 200...200)
        }
        #expect(error?.httpStatus == 206)
    }
}
