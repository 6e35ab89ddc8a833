import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Files that deviate from the format although no pixel is missing or doubtful, and files that look like these.
@Suite(.timeLimit(.minutes(5)))
struct JPEGWarningTests {
    typealias Kind = JPEGRowDecoderTests.Kind
    private static let cameraBytes: [UInt8] = [0x12, 0x34, 0x56, 0x78]

    /// The verdict of the verifier about a file that arrives in pieces of this size.
    private func verify(_ file: [UInt8], inPiecesOf size: Int = 1_000) throws(CodecError) -> Set<ImageWarning> {
        let verifier = ImageVerifier()
        for start in stride(from: 0, to: file.count, by: size) {
            try verifier.append(file.span.extracting(start..<min(start + size, file.count)))
            try verifier.begin()
        }
        return try verifier.finish().warnings
    }

    /// Expects that a decode and the verifier find these deviations, and that the pixels are those of `whole`.
    private func expect(
        _ warnings: Set<ImageWarning>, of file: [UInt8], like whole: [UInt8], _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let image = try decode(whole)
        for size in [1, file.count] {
            let decoded = try decode(file) { size }
            #expect(decoded.pixels == image.pixels, comment, sourceLocation: sourceLocation)
            #expect(!decoded.isPartial && decoded.header.warnings == warnings, comment, sourceLocation: sourceLocation)
            #expect(try verify(file, inPiecesOf: size) == warnings, comment, sourceLocation: sourceLocation)
        }
    }

    private func withoutEnd(_ file: [UInt8]) -> [UInt8] { Array(file.dropLast(2)) }

    /// The offset of the first marker of this kind.
    private func marker(_ code: UInt8, in file: [UInt8]) throws -> Int {
        try file.indices.dropLast().first { file[$0] == 0xFF && file[$0 + 1] == code }.unwrapped()
    }

    // MARK: Valid files

    @Test(arguments: [0, 2])
    func aByteOfOnesAfterTheLastBlockIsNoDeviation(restartInterval: Int) throws {
        var count = 0
        for (width, channels) in (1...12).flatMap({ width in [1, 3, 4].map { (width * 8, $0) } }) {
            var scan = TestScan(width: width, height: 8, channels: channels, restartInterval: restartInterval)
            let file = scan.file()
            scan.padsWholeBytes = true
            let padded = scan.file()
            if padded == file { continue }
            count += 1
            try expect([], of: padded, like: file, "\(width) pixels, \(channels) channels")
        }
        #expect(count > 3)
    }

    @Test(arguments: Kind.all)
    func aFileWithoutDeviationsHasNoWarnings(kind: Kind) throws {
        let file = try kind.file(33, 17)
        try expect([], of: file, like: file)
        try expect([], of: file + [1, 2, 3], like: file, "bytes after the end marker")
    }

    @Test func segmentsAndARestartMarkerAfterTheScanAreNoDeviation() throws {
        let file = try Kind().file(64, 48)
        let segments: [UInt8] = [0xFF, 0xD0] + TestScan.segment(0xFE, [0xFF, 0xC0, 1]) + TestScan.segment(0xE5, [7])
        try expect([], of: withoutEnd(file) + segments + [0xFF, 0xFF, 0xD9], like: file)
    }

    // MARK: Without an end marker

    @Test(arguments: Kind.all)
    func aJPEGThatEndsAfterItsLastBlockIsComplete(kind: Kind) throws {
        let file = try kind.file(40, 30)
        try expect([.missingEnd], of: withoutEnd(file), like: file)
        try expect([.missingEnd], of: withoutEnd(file) + [0xFF], like: file)
    }

    @Test func aProgressiveJPEGThatEndsBeforeItsLastScanIsTruncated() throws {
        let file = try Kind(isProgressive: true).file(64, 48)
        let last = try file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA }.unwrapped()
        for end in last - 2...last + 12 {
            #expect(throws: CodecError.truncated(.jpeg)) { try decode(Array(file[..<end])) }
            #expect(throws: CodecError.truncated(.jpeg)) { try verify(Array(file[..<end])) }
        }
    }

    @Test(.enabled(if: TestJPEGScans.isAvailable, "cjpeg is not installed"))
    func separateScansWithoutAnEndMarkerAreComplete() throws {
        let kind = TestJPEGScans(name: "one scan a channel", script: "0; 1; 2;")
        let file = try kind.file(TestImage.photo(64, 48))
        try expect([.missingEnd], of: withoutEnd(file), like: file)
    }

    @Test func anotherFileInPlaceOfTheEndMarkerIsNotRead() throws {
        let file = try Kind().file(64, 48)
        // Some panoramas are followed by a video: bytes that look like markers.
        let trailer = (0..<2_000).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) }
        try expect(
            [.missingEnd, .extraBytes], of: withoutEnd(file) + [1] + trailer + [0xFF, 0xC0] + trailer, like: file)
        try expect([.missingEnd], of: withoutEnd(file) + Kind().file(8, 8), like: file)
    }

    // MARK: Bytes that belong to nothing

    @Test(arguments: [Kind(), Kind(isGray: true), Kind(quality: 95)])
    func bytesBeforeTheEndMarkerAreAWarning(kind: Kind) throws {
        let file = try kind.file(64, 48)
        for count in [1, 2, 5, 25] {
            let bytes = [[UInt8]](repeating: Self.cameraBytes, count: count).flatMap(\.self)
            try expect([.extraBytes], of: withoutEnd(file) + bytes + [0xFF, 0xD9], like: file, "\(count) times")
        }
        for count in 1...7 {
            let zeros = [UInt8](repeating: 0, count: count)
            try expect([.extraBytes], of: withoutEnd(file) + zeros + [0xFF, 0xD9], like: file, "\(count) zeros")
        }
    }

    @Test(arguments: [0xDB, 0xC0, 0xDA] as [UInt8])
    func bytesBeforeASegmentAreAWarning(code: UInt8) throws {
        let file = try Kind().file(64, 48)
        let start = try marker(code, in: file)
        try expect([.extraBytes], of: file[..<start] + Self.cameraBytes + file[start...], like: file)
    }

    @Test func aCommentWithATooSmallLengthIsAWarning() throws {
        var file = try Kind().file(64, 48)
        let whole = file
        file.insert(contentsOf: [0xFF, 0xFE, 0, 4, 1, 2, 3, 4], at: 2)
        try expect([.extraBytes], of: file, like: whole)
    }

    // MARK: Doubtful pixels

    /// Damage can make an image end before its data do, whose last blocks then remain.
    @Test(arguments: [Kind(), Kind(isGray: true), Kind(quality: 95)])
    func blocksAfterTheLastOneFailVerification(kind: Kind) throws {
        var file = try kind.file(64, 48)
        let frame = try marker(0xC0, in: file)
        file[frame + 6] = 32
        for size in [1, file.count] {
            let error = #expect(throws: CodecError.self) { try verify(file, inPiecesOf: size) }
            #expect("\(String(describing: error))".contains("extraneous bytes before marker 0xd9"))
        }
        #expect(try decode(file).header.warnings == [.extraBytes])
    }

    @Test func dataReplacedByZerosFailVerification() throws {
        var file = try Kind().file(200, 150)
        let start = try marker(0xDA, in: file) + 14
        file.replaceSubrange(start..<file.count - 2, with: [UInt8](repeating: 0, count: 3_000))
        #expect(throws: CodecError.self) { try verify(file) }
    }

    @Test func bytesBetweenTheScansOfAProgressiveJPEGFailVerification() throws {
        let file = try Kind(isProgressive: true).file(64, 48)
        let longer = withoutEnd(file) + [[UInt8]](repeating: Self.cameraBytes, count: 5).flatMap(\.self) + [0xFF, 0xD9]
        #expect(throws: CodecError.self) { try verify(longer) }
        #expect(try decode(longer).pixels == decode(file).pixels)
    }

    @Test(arguments: 1...9)
    func bytesBeforeARestartMarkerFailVerification(count: Int) throws {
        let file = TestScan(width: 40, height: 12, restartInterval: 2).file()
        let restart = try marker(0xD1, in: file)
        let longer = file[..<restart] + [UInt8](repeating: 0x55, count: count) + file[restart...]
        #expect(throws: CodecError.self) { try verify(Array(longer)) }
        #expect(try decode(Array(longer)).pixels == decode(file).pixels)
    }

    @Test func dataAfterARestartMarkerBehindTheLastBlockFailVerification() throws {
        let file = try Kind().file(64, 48)
        let longer = withoutEnd(file) + [0xFF, 0xD0] + Self.cameraBytes + [0xFF, 0xD9]
        #expect(throws: CodecError.self) { try verify(longer) }
    }
}
