import Foundation
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import webimage

struct StoredPiecesTests {
    /// Pieces, or errors, one after the other.
    private final class ScriptedPieces: ImagePieces {
        var steps: [Result<[UInt8], any Error>]
        let source: String? = "test"

        init(_ steps: [Result<[UInt8], any Error>]) { self.steps = steps }

        convenience init(_ pieces: [[UInt8]]) { self.init(pieces.map { .success($0) }) }

        func next() async throws -> [UInt8]? { steps.isEmpty ? nil : try steps.removeFirst().get() }

        func suspendReading() {}
    }

    private let interruption = ImageError.transport(TransportError(url: "https://example.com/a", reason: .cancelled))

    private func stored(
        _ pieces: any ImagePieces, in file: UnfinishedFile? = nil, allowsPartial: Bool = false
    ) -> StoredPieces {
        StoredPieces(pieces, in: file, MemoryLimits(), .temporary, allowsPartial: allowsPartial)
    }

    /// Returns the bytes of the next pieces, at most `count`.
    private func read(_ pieces: StoredPieces, count: Int = .max) async throws -> [UInt8] {
        var (bytes, number) = ([UInt8](), 0)
        while number < count, let piece = try await pieces.nextPiece() {
            bytes += piece
            number += 1
        }
        return bytes
    }

    @Test(arguments: [false, true]) func piecesAreReadAgainFromTheFirstOne(isInFile: Bool) async throws {
        let file = isInFile ? OutputFolder.temporary.makeFile() : nil
        let pieces = stored(ScriptedPieces([[1, 2], [3], [4]]), in: file)
        for count in [2, 1, 0, 3] {
            _ = try await read(pieces, count: count)
            try pieces.rewind()
        }
        #expect(try await read(pieces) == [1, 2, 3, 4])
        try pieces.rewind()
        #expect(try await read(pieces) == [1, 2, 3, 4])
        if let file { #expect(try file.contents() == [1, 2, 3, 4]) }
    }

    @Test func lengthIsKnownOnceAllPiecesAreStored() async throws {
        let pieces = stored(ScriptedPieces([[1, 2], [3], [4, 5, 6]]))
        #expect(try await read(pieces, count: 1) == [1, 2])
        #expect(pieces.expectedLength == nil)
        _ = try await pieces.store(upTo: .max)
        try pieces.rewind()
        #expect(pieces.expectedLength == 6)
        #expect(try await read(pieces) == [1, 2, 3, 4, 5, 6])
    }

    @Test func piecesOfLargeWorkAreStoredBeforeItTakesMemory() async throws {
        for (bytes, isStored) in [(MemoryLimits.small, false), (MemoryLimits.small + 1, true)] {
            let source = ScriptedPieces([[1], [2], [3]])
            let pieces = stored(source)
            #expect(try await read(pieces, count: 1) == [1])
            try await pieces.prepare(for: bytes)
            #expect(source.steps.isEmpty == isStored)
            #expect(try await read(pieces) == [2, 3])
        }
    }

    /// A check has stored more than the conversion has read when it knows the header.
    @Test func readingContinuesInsideTheFile() async throws {
        let block = [UInt8](repeating: 7, count: 64 << 10)
        let file = OutputFolder.temporary.makeFile()
        let pieces = stored(ScriptedPieces([block + block, [1], [2]]), in: file)
        #expect(try await read(pieces, count: 2).count == 2 * block.count + 1)
        try pieces.rewind()
        #expect(try await read(pieces, count: 1) == block)
        try await pieces.prepare(for: MemoryLimits.small + 1)
        #expect(try await read(pieces) == block + [1, 2])
    }

    @Test func noMoreThanTheLimitIsStored() async throws {
        let source = ScriptedPieces([[1], [2, 3], [4, 5], [6]])
        let pieces = stored(source)
        _ = try await read(pieces, count: 1)
        #expect(try await pieces.store(upTo: 3) == 5)
        #expect(source.steps.count == 1)
        try pieces.rewind()
        #expect(try await read(pieces) == [1, 2, 3, 4, 5, 6])
    }

    @Test(arguments: [false, true]) func piecesBeforeARestartAreVoid(isInFile: Bool) async throws {
        let source = ScriptedPieces([.success([1]), .failure(ImageBytes.StartedOver()), .success([2]), .success([3])])
        let pieces = stored(source, in: isInFile ? OutputFolder.temporary.makeFile() : nil)
        await #expect(throws: BodyRestarted.self) { try await read(pieces) }
        #expect(try await read(pieces, count: 1) == [2])
        try pieces.rewind()
        #expect(try await read(pieces) == [2, 3])
    }

    @Test func interruptionFollowsTheReceivedPieces() async throws {
        for allowsPartial in [false, true] {
            let pieces = stored(
                ScriptedPieces([.success([1]), .failure(interruption)]), allowsPartial: allowsPartial)
            guard allowsPartial else {
                await #expect(throws: ImageError.self) { try await pieces.store(upTo: .max) }
                continue
            }
            #expect(try await pieces.store(upTo: .max) == 1)
            for _ in 0..<2 {
                try pieces.rewind()
                #expect(try await read(pieces, count: 1) == [1])
                await #expect(throws: ImageError.self) { try await pieces.nextPiece() }
            }
        }
    }

    @Test func localFileIsReadAgainWithoutACopy() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/a"
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
            let pieces = stored(FilePieces(try ImageFile(path: path)))
            #expect(try await pieces.store(upTo: 1) == 2)
            #expect(try await pieces.store(upTo: .max) == 3)
            #expect(pieces.storedCount == 0)
            for _ in 0..<2 {
                #expect(try await read(pieces) == [1, 2, 3])
                try pieces.rewind()
            }
        }
    }
}
