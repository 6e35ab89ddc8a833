import Foundation
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ChunkFormatTests {
    typealias Format = LoopbackOrigin.Response.ChunkFormat

    /// The chunks of `0123456789` as they go over the wire.
    private func chunks(_ format: Format, keepsAlive: Bool = false) async throws -> String {
        try await withLoopbackOrigin { origin in
            var response = LoopbackOrigin.Response(body: Array("0123456789".utf8), framing: .chunked)
            response.chunkFormat = format
            origin.route("/", response)
            let client = try RawClient(port: origin.port)
            client.send("GET / HTTP/1.1\r\n\(keepsAlive ? "" : "Connection: close\r\n")\r\n")
            let text = await client.readToEnd().text
            return String(text[(text.range(of: "\r\n\r\n")?.upperBound ?? text.startIndex)...])
        }
    }

    @Test func chunksHaveTheirMaximumSize() async throws {
        #expect(try await chunks(Format(maximumSize: 6)) == "6\r\n012345\r\n4\r\n6789\r\n0\r\n\r\n")
        #expect(try await chunks(Format(maximumSize: 0)).hasPrefix("1\r\n0\r\n1\r\n1\r\n"))
    }

    @Test func chunksHaveExtensions() async throws {
        #expect(try await chunks(Format(chunkExtension: ";a=b")) == "a;a=b\r\n0123456789\r\n0\r\n\r\n")
    }

    @Test(arguments: [(5, "f"), (-3, "7"), (-30, "0"), (Int.max, "0")])
    func chunkSizesAreWrongByTheGivenNumber(error: Int, size: String) async throws {
        #expect(try await chunks(Format(sizeError: error)) == "\(size)\r\n0123456789\r\n0\r\n\r\n")
    }

    @Test func chunkSizesAreReplaced() async throws {
        #expect(try await chunks(Format(sizeText: "xyz")) == "xyz\r\n0123456789\r\n0\r\n\r\n")
    }

    @Test func finalChunkCanBeOmitted() async throws {
        #expect(try await chunks(Format(dataEnd: "")) == "a\r\n01234567890\r\n\r\n")
    }

    @Test func connectionIsClosedInPlaceOfTheLastChunk() async throws {
        #expect(try await chunks(Format(hasLastChunk: false), keepsAlive: true) == "a\r\n0123456789\r\n")
    }
}
