import HTTPTransport
import Testing

@testable import AsyncWebImage

/// The errors for responses that are not images.
@Suite(.timeLimit(.minutes(1)))
struct ResponseErrorTests {
    private let transport = ScriptedTransport()
    private let url = "http://example.com/a"

    /// Returns the error caused by a response.
    private func error(
        _ status: HTTPResponse.Status, _ fields: HTTPFields = [:], _ body: [UInt8]
    ) async throws -> ImageError? {
        var exchanges = transport.exchanges.makeAsyncIterator()
        let loader = ImageLoader(configuration: .patient, transport: transport)
        let task = loader.imageTask(for: ImageRequest(url))
        let exchange = try #require(await exchanges.next())
        exchange.answer(status, fields, body)
        exchange.finish()
        return await #expect(throws: ImageError.self) { try await task.value }
    }

    @Test(arguments: ["text/plain", "text/html; charset=utf-8", "application/json"])
    func statusErrorContainsTheTextOfItsBody(type: String) async throws {
        let text = "{\"reason\": \"köln\"}"
        guard
            case .status(let head, text)? = try await error(.notFound, [.contentType: type], Array(text.utf8))
        else {
            Issue.record("another error, or another text")
            return
        }
        #expect(head.status == .notFound)
    }

    @Test func statusErrorKeepsAtMostOneKibibyteOfText() async throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 5_000)
        guard case .status(_, let text)? = try await error(.badGateway, [.contentType: "text/plain"], body) else {
            Issue.record("another error")
            return
        }
        #expect(text == String(repeating: "x", count: 1_024))
    }

    @Test(arguments: [[.contentType: "image/png"], [:]] as [HTTPFields])
    func statusErrorOmitsBodyThatIsNotText(_ fields: HTTPFields) async throws {
        guard case .status(_, "")? = try await error(.forbidden, fields, Array("text".utf8)) else {
            Issue.record("another error, or a text")
            return
        }
    }

    @Test func successWithoutABodyIsAnEmptyBodyError() async throws {
        guard case .emptyBody(let head)? = try await error(.ok, [.contentLength: "0"], []), head.url.string == url,
            head.status == .ok
        else {
            Issue.record("another error")
            return
        }
    }
}
