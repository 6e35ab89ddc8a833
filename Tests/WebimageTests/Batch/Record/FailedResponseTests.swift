import Foundation
import LoopbackOrigin
import TestSupport
import Testing

/// The records of `webimage batch` for responses that are not images.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct FailedResponseTests {
    private typealias Response = LoopbackOrigin.Response

    @Test func recordOfARejectedResponseHasItsURLAndHeaderFields() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/moved", .redirect(to: origin.url("/missing")))
            origin.route(
                "/missing", Response(status: 404, headerFields: ["Content-Type": "text/html", "ETag": "\"e\""]))
            origin.route("/empty", Response(headerFields: ["Content-Type": "image/png"], body: []))
            let list = "\(origin.url("/moved"))\n\(origin.url("/empty"))\n"
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--ordered", "--retries", "0"], input: list)
            let frames = try BatchFrames(result.outputBytes).frames
            #expect(frames.map(\.code) == ["http_404", "empty_body"])
            #expect(frames.map { $0.object["http_status"] as? Int } == [404, 200])
            #expect(frames.map { $0.object["final_url"] as? String } == [origin.url("/missing"), nil])
            #expect(frames.map { $0.object["content_type"] as? String } == ["text/html", "image/png"])
            #expect(frames.map { $0.object["etag"] as? String } == ["\"e\"", nil])
        }
    }
}
