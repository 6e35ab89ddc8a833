import Foundation
import HTTPTransport
import HTTPTypes
import ImageCodecs
import Testing

@testable import AsyncWebImage

/// The codes are API: applications store them, so a change of one breaks these applications.
struct ImageErrorCodeTests {
    private static let url = "https://example.com/photo.jpg"

    @Test(arguments: [
        (TransportError.Reason.invalidURL, "invalid_url"), (.hostNotFound, "host_not_found"),
        (.lookupFailed, "dns_temporary"), (.tooManyOpenFiles, "too_many_open_files"), (.threadStartFailed, "other"),
        (.connectionFailed, "connection_failed"),
        (.invalidProxy, "proxy"), (.refusedByProxy(status: 502), "proxy"), (.tlsFailure, "tls"),
        (.timedOut(.lookup), "timeout_lookup"), (.timedOut(.connect), "timeout_connect"),
        (.timedOut(.firstByte), "timeout_first_byte"), (.timedOut(.idle), "timeout_idle"),
        (.timedOut(.total), "deadline"),
        (.truncated(expected: 2, received: 1), "truncated"), (.connectionLost, "connection_lost"),
        (.bodyTooLarge(limit: 1), "too_many_bytes"), (.headerTooLarge(limit: 1), "invalid_response"),
        (.invalidResponse, "invalid_response"), (.tooManyRedirects(limit: 1), "redirects"),
        (.unsupportedRedirect, "redirect_refused"), (.insecureRedirect, "redirect_refused"),
        (.authenticationFailed, "auth"), (.notCached, "not_cached"), (.cancelled, "cancelled"),
        (.requestTooLarge(limit: 1), "other"),
        (.other(code: 1), "other"),
    ])
    func transportErrorsHaveCodes(reason: TransportError.Reason, code: String) {
        #expect(ImageError.transport(TransportError(url: Self.url, reason: reason)).code.rawValue == code)
    }

    @Test(arguments: [
        (CodecError.notAnImage(lookingLike: "HTML"), "not_an_image"), (.unsupportedFormat("AVIF"), "unsupported"),
        (.truncated(.jpeg), "truncated_image"),
        (.corrupt(.png, ""), "corrupt"), (.unsupportedFeature(.gif, ""), "unsupported"),
        (.zeroPixels(.png, PixelSize(width: 0, height: 1)), "corrupt"),
        (.overLimit(.pixels, value: 2, limit: 1), "too_many_pixels"),
        (.overLimit(.side, value: 2, limit: 1), "too_many_pixels"),
        (.overLimit(.memory, value: 2, limit: 1), "too_many_pixels"),
        (.overLimit(.work, value: 2, limit: 1), "too_many_pixels"),
        (.overLimit(.bytes, value: 2, limit: 1), "too_many_bytes"),
        (.overLimit(.frames, value: 2, limit: 1), "too_many_frames"),
        (.overLimit(.scans, value: 2, limit: 1), "corrupt"),
        (.overLimit(.headerBytes, value: 2, limit: 1), "corrupt"), (.encodingFailed(.webp, ""), "encode"),
        (.outOfMemory(.webp), "too_many_pixels"), (.decoderFault(.jpeg, ""), "other"),
        (.transformationFailed("crop", ""), "transform"),
    ])
    func codecErrorsHaveCodes(error: CodecError, code: String) {
        #expect(ImageError.codec(error, url: Self.url).code.rawValue == code)
    }

    @Test func responseErrorsHaveTheirErrorCodes() throws {
        func head(_ status: Int) throws -> ResponseHead {
            ResponseHead(response: HTTPResponse(status: .init(code: status)), url: try HTTPURL(Self.url))
        }
        #expect(ImageError.status(try head(404), text: "").code.rawValue == "http_404")
        #expect(ImageError.status(try head(503), text: "").code == .status(503))
        #expect(ImageError.notModified(try head(304)).code.rawValue == "not_modified")
        #expect(ImageError.unacceptableType(try head(200)).code.rawValue == "unacceptable_type")
        #expect(ImageError.emptyBody(try head(200)).code.rawValue == "empty_body")
        let digest = try #require(BodyDigest(.md5, bytes: [UInt8](repeating: 1, count: 16)))
        let mismatch = ImageError.digestMismatch(try head(200), expected: digest, actual: digest, from: .network)
        #expect(mismatch.code.rawValue == "hash_mismatch" && mismatch.url == Self.url && !mismatch.isRetryable)
    }

    @Test func declaredCodesAreTheDocumentedOnes() throws {
        let path = URL(filePath: #filePath).pathComponents.dropFirst().dropLast(4).joined(separator: "/")
        let text = try String(contentsOfFile: "/\(path)/Docs/JSON.md", encoding: .utf8)
        let table = try #require(text.split(separator: "## Error codes").last?.split(separator: "\n## ").first)
        let rows = table.split(separator: "\n").map { $0.split(separator: "`").map(String.init) }
        var codes = Set(rows.compactMap { $0.dropFirst().first })
        codes = codes.filter { !$0.contains(" ") && !$0.contains(".") }
        // Those of the command, and those of statuses.
        codes.subtract(["bad_line", "robots_tag", "robots_txt", "http_NNN"])
        #expect(Set(ImageError.Code.declared.map(\.rawValue)) == codes)
    }

    @Test func errorsOfTheLoaderItselfHaveErrorCodes() {
        let refused = ImageError.rejected(by: .responseValidator, url: Self.url, cause: CancellationError())
        #expect(refused.code.rawValue == "refused")
        #expect(ImageError.invalidURL("x").code.rawValue == "invalid_url")
        #expect(ImageError.unusableCacheFolder(path: "", reason: "").code.rawValue == "cache_folder")
        #expect(ImageError.shutDown.code.rawValue == "cancelled")
        #expect(ImageError.overloaded(retryAfter: .seconds(1), url: Self.url).code.rawValue == "overloaded")
        #expect(ImageError.unavailableDigest(.md5).code.rawValue == "other")
        #expect("\(ImageError.Code.tls)" == "tls")
    }
}
