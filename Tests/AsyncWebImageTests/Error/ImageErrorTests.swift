import Foundation
import HTTPTransport
import HTTPTypes
import ImageCodecs
import Testing

@testable import AsyncWebImage

struct ImageErrorTests {
    private static let url = "https://example.com/photo.jpg"

    private static func head(_ status: HTTPResponse.Status) throws -> ResponseHead {
        ResponseHead(response: HTTPResponse(status: status), url: try HTTPURL(url))
    }

    @Test func localizedDescriptionNamesTheURLAndTheCause() throws {
        let errors: [(ImageError, String)] = [
            (.status(try Self.head(.notFound), text: ""), "the server responded with 404 Not Found"),
            (.transport(TransportError(url: Self.url, reason: .hostNotFound)), "the host is unknown"),
            (.codec(.truncated(.jpeg), url: Self.url), "the JPEG file ends before its image is complete"),
            (.emptyBody(try Self.head(.ok)), "the response has an empty body"),
        ]
        for (error, cause) in errors {
            #expect(error.url == Self.url)
            #expect((error as any Error).localizedDescription == "\(Self.url): \(cause)")
        }
    }

    @Test func localizedDescriptionOfACacheFolderNamesItsPath() {
        let error = ImageError.unusableCacheFolder(path: "/etc/passwd", reason: "Not a directory")
        #expect(error.url == nil)
        #expect(error.localizedDescription == "/etc/passwd: the cache folder cannot be used: Not a directory")
    }

    @Test func localizedDescriptionOfALoaderThatIsShutDownIsItsDescription() {
        #expect(ImageError.shutDown.localizedDescription == "the image loader is shut down")
    }

    @Test func localizedDescriptionOfTransportErrorNamesTheURL() {
        let error = TransportError(url: Self.url, reason: .timedOut(.idle))
        #expect(error.localizedDescription == "\(Self.url): the server stopped sending")
    }

    @Test func localizedDescriptionOfCodecErrorIsItsDescription() {
        #expect(CodecError.truncated(.png).localizedDescription == CodecError.truncated(.png).description)
    }

    @Test(arguments: [
        ("file:///etc/passwd", "URLs of the scheme file are not supported"),
        ("data:image/png;base64,AAAA", "URLs of the scheme data are not supported"),
        ("FTP://example.com/", "URLs of the scheme FTP are not supported"),
        ("https://", "not a valid http or https URL"), ("photo.jpg", "not a valid http or https URL"),
        ("", "not a valid http or https URL"), (":", "not a valid http or https URL"),
        ("example.com/a:b", "not a valid http or https URL"),
    ])
    func invalidURLSaysWhetherTheSchemeIsUnsupported(text: String, message: String) {
        #expect(ImageError.invalidURL(text).description == message)
    }

    @Test func debugDescriptionNamesTheURL() {
        let error = TransportError(url: "https://example.com/a", reason: .connectionLost)
        let text = "https://example.com/a: the connection was lost before the response began"
        #expect(String(reflecting: error) == text)
        #expect(String(reflecting: ImageError.transport(error)) == text)
    }
}
