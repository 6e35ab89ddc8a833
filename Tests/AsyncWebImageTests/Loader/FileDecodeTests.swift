import ImageCodecs
import ImageEncoders
import TestSupport
import Testing

@testable import AsyncWebImage

/// A decoder decodes files that no loader has downloaded.
@Suite(.timeLimit(.minutes(1)))
struct FileDecodeTests {
    private let decoder = ImageDecoder()

    /// Pieces that a test has delivered, and counts.
    private struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let file: [UInt8]
        let taken: Awaited<Int>
        var position = 0
        var failure: (any Error)?

        func makeAsyncIterator() -> Pieces { self }

        mutating func next() async throws -> ArraySlice<UInt8>? {
            guard position < file.count else {
                if let failure { throw failure }
                return nil
            }
            let piece = file[position...].prefix(4_096)
            position += piece.count
            taken.update { $0 += piece.count }
            return piece
        }
    }

    private func pieces(_ file: [UInt8], failure: (any Error)? = nil) -> Pieces {
        Pieces(file: file, taken: Awaited(0), failure: failure)
    }

    @Test(arguments: EncodeOptions.formats) func imageIsDecodedFromBytesAndPieces(format: ImageFormat) async throws {
        let file = try Samples.file(format)
        let expected = try StreamingDecoder.decode(file.span).pixels
        #expect(try await decoder.image(from: file).pixels == expected)
        #expect(try await decoder.image(from: pieces(file)).pixels == expected)
        let small = try await decoder.image(from: file, options: DecodeOptions(target: .maximumSide(10)))
        #expect(small.pixels.size.width == 10)
    }

    @Test func animationIsReadFromBytesAndPieces() async throws {
        let encoder = try AnimationEncoder(format: .gif, size: PixelSize(width: 8, height: 8))
        for _ in 0..<2 { try encoder.append(Samples.picture(8, 8), delay: .milliseconds(50)) }
        let file = try encoder.finish()
        #expect(try await decoder.animation(from: file).frameCount == 2)
        #expect(try await decoder.animation(from: pieces(file)).frameCount == 2)
        #expect(try await decoder.info(from: file, readsAnimation: true).frameCount == 2)
    }

    @Test func headerNeedsNoMorePiecesThanItIsLong() async throws {
        let file = try Samples.file(.png, 1_000, 800)
        let pieces = pieces(file)
        #expect(try await decoder.info(from: pieces).size == PixelSize(width: 1_000, height: 800))
        #expect(pieces.taken.value < file.count)
        #expect(try await decoder.info(from: Array(file.prefix(1_000))).format == .png)
    }

    @Test func damagedFileIsAnErrorWithItsDecodedPart() async throws {
        let file = Array(try Samples.file(.png, 400, 300).dropLast(3_000))
        do {
            _ = try await decoder.image(from: file)
            Issue.record("the file is truncated")
        } catch ImageError.codec(.truncated, url: "content:bytes", let partial) {
            #expect(partial?.isPartial == true)
        }
        #expect(try await decoder.image(from: file, options: DecodeOptions(allowsPartial: true)).isPartial)
        await #expect(throws: ImageError.self) { _ = try await decoder.image(from: []) }
    }

    @Test func errorOfASequenceEndsTheDecode() async throws {
        struct Lost: Error {}
        do {
            _ = try await decoder.image(from: pieces(Array(try Samples.file(.png).prefix(100)), failure: Lost()))
            Issue.record("the sequence throws")
        } catch ImageError.transport(let error) {
            #expect(error.reason == .sourceFailed && error.detail == "Lost()")
        }
    }

    @Test func decodesStayWithinTheMemoryBudget() async throws {
        let decoder = ImageDecoder(configuration: .init(memoryBudget: 1_000))
        do {
            _ = try await decoder.image(from: try Samples.file(.png))
            Issue.record("there is no memory for it")
        } catch ImageError.codec(.overLimit(.memory, _, _), _, _) {}
        #expect(await decoder.memoryInUse == 0)
    }

    @Test func canceledDecodeStopsItsSequence() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let ended = Awaited(false)
        continuation.onTermination = { _ in ended.update { $0 = true } }
        continuation.yield(Array(try Samples.file(.png).prefix(60)))
        let task = Task { [decoder] in try await decoder.image(from: stream) }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await ended.wait { $0 }
    }

    @Test func previewsEndWithTheFinalImage() async throws {
        let file = try Samples.picture(320, 240).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield(Array(file.prefix(file.count * 2 / 3)))
        var frames: [ImagePreview] = []
        for try await frame in decoder.previews(from: stream) {
            if frames.isEmpty {
                continuation.yield(Array(file.dropFirst(file.count * 2 / 3)))
                continuation.finish()
            }
            frames.append(frame)
        }
        #expect(frames.first?.scan != nil && frames.last?.isFinal == true)
        #expect(frames.last?.response?.byteCount == file.count)
    }

    @Test func streamThatIsAbandonedEndsItsSequence() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let ended = Awaited(false)
        continuation.onTermination = { _ in ended.update { $0 = true } }
        do { _ = decoder.previews(from: stream) }
        await ended.wait { $0 }
    }
}
