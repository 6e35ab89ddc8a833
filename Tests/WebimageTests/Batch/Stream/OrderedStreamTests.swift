import AsyncWebImage
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --ordered`, as a program starts it.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct OrderedStreamTests {
    /// The files of later lines, which wait for the first one, take all the memory for waiting files.
    @Test func slowLineIsWrittenAlthoughLaterOnesTakeTheMemoryForFiles() async throws {
        let size = 24 << 20
        let file = try #require(testPhotograph).encoded(as: .jpeg) + [UInt8](repeating: 0, count: size)
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let response = LoopbackOrigin.Response(body: file)
            origin.route("/0", response.held(at: .start, until: gate))
            for number in 1..<6 { origin.route("/\(number)", response) }
            let list = (0..<6).map { origin.url("/\($0)") }.joined(separator: "\n")
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--ordered", "--format", "original"], input: list
            ) { _ in
                await origin.counts { counts in
                    // The bodies that wait for the memory of others arrive only in part.
                    (1..<6).filter { counts.bodyBytesSent["/\($0)", default: 0] >= size }.count >= 3
                }
                gate.open()
            }
            let frames = try BatchFrames(result.outputBytes).frames
            #expect(frames.map(\.code) == [nil, nil, nil, nil, nil, nil])
            #expect(frames.allSatisfy { $0.file == file })
        }
    }
}
