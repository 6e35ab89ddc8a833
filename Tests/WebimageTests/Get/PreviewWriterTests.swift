import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import Testing
import Threading

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct PreviewWriterTests {
    /// A clock on which no time passes by itself; sleeping returns immediately and is recorded.
    private struct SleeplessClock: Clock {
        struct Instant: InstantProtocol {
            var offset = Duration.zero
            func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
            func duration(to other: Self) -> Duration { other.offset - offset }
            static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
        }

        let onSleep: @Sendable (Duration) -> Void
        var now: Instant { Instant() }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            onSleep(deadline.offset)
        }
    }

    @Test func previewsAreWrittenAtIncreasingIntervals() async throws {
        // Noise, which takes many bytes, each of which shows more rows.
        var state: UInt64 = 88_172_645_463_325_252
        let bytes = (0..<200 * 200 * 4).map { index -> UInt8 in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: state)
        }
        let picture = try #require(PixelBuffer(size: PixelSize(width: 200, height: 200), bytes: bytes))
        let file = try picture.encoded(as: .png)
        // The file pauses repeatedly, and continues when a preview of the received part has been written.
        let gates = (0..<20).map { _ in Gate() }
        var response = LoopbackOrigin.Response(body: file)
        for (index, gate) in gates.enumerated() {
            response = response.held(at: .body(file.count * (index + 1) / (gates.count + 1)), until: gate)
        }
        let answer = response
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a.png", answer)
            defer { for gate in gates { gate.open() } }
            try await withTemporaryFolder { folder in
                var configuration = ImageLoader.Configuration()
                configuration.previews = PreviewPolicy(
                    minimumInterval: .zero, decodingShare: 1_000, elapsedShare: 1_000)
                let sleeps = Locked([Duration]())
                let clock = SleeplessClock { duration in
                    let count = sleeps.withLock { sleeps in
                        sleeps.append(duration)
                        return sleeps.count
                    }
                    gates[count - 1].open()
                }
                let writer = PreviewWriter(
                    folder: try OutputFolder(path: folder), loader: ImageLoader(configuration: configuration),
                    workers: ThreadPool(count: 1), clock: clock)
                try await writer.write(ImageRequest(origin.url("/a.png")), named: "a.png")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                #expect(names.count == PreviewWriter.maximumCount)
                #expect(names.first == "a-01.png" && names.last == "a-16.png")
                let slept = sleeps.withLock { $0 }
                #expect(slept.count == PreviewWriter.maximumCount - 1)
                #expect(slept.first == .milliseconds(100) && slept == slept.sorted())
                #expect(try #require(slept.last) > .seconds(25))
            }
        }
    }
}
