import HTTPTypes
import ImageCodecs
import Testing

@testable import AsyncWebImage
@testable import HTTPTransport

/// The statuses and texts of failures for the clients of a service.
struct ImageErrorClientTests {
    private static let url = "http://user:secret@10.0.0.7:8080/internal?token=1"

    private static func status(_ status: Int) throws -> ImageError {
        let response = HTTPResponse(status: .init(code: status, reasonPhrase: "secret"))
        return .status(ResponseHead(response: response, url: try HTTPURL(url)), text: "secret")
    }

    private static func errors() throws -> [(ImageError, Int)] {
        let reasons: [(TransportError.Reason, Int)] = [
            (.invalidURL, 400),
            (.refusedByPolicy(PolicyRefusal(subject: "10.0.0.7", rule: "secret")), 403), (.bodyTooLarge(limit: 1), 413),
            (.requestTooLarge(limit: 1), 414),
            (.hostNotFound, 422), (.tooManyRedirects(limit: 1), 422), (.lookupFailed, 503), (.tooManyOpenFiles, 503),
            (.timedOut(.idle), 504), (.notCached, 504), (.connectionFailed, 502), (.tlsFailure, 502),
            (.refusedByProxy(status: 407), 502),
        ]
        let codec: [(CodecError, Int)] = [
            (.notAnImage(lookingLike: "secret"), 415), (.corrupt(.png, "secret"), 415),
            (.overLimit(.pixels, value: 2, limit: 1), 413), (.encodingFailed(.webp, "secret"), 500),
        ]
        return reasons.map {
            (.transport(TransportError(url: url, reason: $0.0, detail: "10.0.0.7 secret")), $0.1)
        } + codec.map { (.codec($0.0, url: url), $0.1) } + [
            (try status(404), 404), (try status(410), 410), (try status(401), 502), (try status(500), 502),
            (.invalidURL(url), 400), (.rejected(by: .requestModifier, url: url, cause: CancellationError()), 403),
            (.unsuitable(.format(.png), url: url), 422),
            (.overloaded(retryAfter: .seconds(3), url: url), 503), (.shutDown, 503),
            (.unusableCacheFolder(path: "/secret", reason: "secret"), 500),
        ]
    }

    @Test func errorsHaveAStatusForClients() throws {
        for (error, status) in try Self.errors() { #expect(error.suggestedStatus == status, "\(error)") }
    }

    @Test func textForClientsContainsNothingOfServersAndNetworks() throws {
        for (error, _) in try Self.errors() {
            let text = error.clientDescription
            #expect(!text.isEmpty && text.hasSuffix("."))
            for secret in ["secret", "10.0.0.7", "internal", "token", "http"] {
                #expect(!text.contains(secret), "\(text)")
            }
        }
    }
}
