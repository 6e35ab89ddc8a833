import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct JPEGVerifierTests {
    typealias Kind = JPEGRowDecoderTests.Kind
    static let progressive = Kind.all.filter(\.isProgressive)

    /// The segments and scans of `file`, each from its marker on; the data after the header of a scan belong to it.
    private func segments(_ file: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        for (offset, byte) in file.enumerated() {
            let next = offset + 1 < file.count ? file[offset + 1] : 0
            let begins = byte == 0xFF && next >= 0xC0 && !(0xD0...0xD7).contains(next) && next != 0xFF
            if begins { parts.append([]) }
            parts[parts.count - 1].append(byte)
        }
        return parts
    }

    private func isScan(_ segment: [UInt8]) -> Bool { segment[1] == 0xDA }

    /// The index of the last scan's segment.
    private func lastScan(_ segments: [[UInt8]]) throws -> Int {
        try segments.lastIndex(where: isScan).unwrapped()
    }

    private func dataStart(_ scan: [UInt8]) -> Int { 2 + Int(scan[3]) }

    private func error(_ file: [UInt8]) -> CodecError? {
        do throws(CodecError) {
            _ = try ImageVerifier.verify(file.span)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the verification error of a file that arrives in pieces of `size` bytes.
    private func error(_ file: [UInt8], inPiecesOf size: Int) -> CodecError? {
        let verifier = ImageVerifier()
        do throws(CodecError) {
            for start in stride(from: 0, to: file.count, by: size) {
                try verifier.append(file.span.extracting(start..<min(start + size, file.count)))
                try verifier.begin()
            }
            _ = try verifier.finish()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Whole files

    @Test(arguments: Kind.all)
    func completeJPEGsOfEverySizePassVerification(kind: Kind) throws {
        for (width, height) in JPEGRowDecoderTests.sizes {
            let file = try kind.file(width, height)
            let header = try ImageVerifier.verify(file.span)
            #expect(header.size == PixelSize(width: width, height: height) && header.frameCount == 1)
        }
    }

    @Test(.enabled(if: TestJPEGScans.isAvailable, "cjpeg is not installed"), arguments: TestJPEGScans.kinds)
    func jpegsWrittenByCjpegPassVerification(kind: TestJPEGScans) throws {
        for (width, height) in JPEGRowDecoderTests.sizes {
            let file = try kind.file(TestImage.photo(width, height))
            #expect(throws: Never.self, "\(width)x\(height)") { try ImageVerifier.verify(file.span) }
        }
    }

    @Test(arguments: TestCMYKJPEG.Marker.allCases)
    func cmykFilesPassVerification(marker: TestCMYKJPEG.Marker) {
        let file = TestCMYKJPEG.file([[255, 0, 9, 7], [1, 2, 3, 4]], width: 2, marker: marker)
        #expect(throws: Never.self) { try ImageVerifier.verify(file.span) }
    }

    @Test func fillBytesBeforeJPEGMarkersPassVerification() throws {
        let file = try Kind(isProgressive: true).file(64, 48)
        let parts = segments(file)
        let filled = parts[0] + parts.dropFirst().flatMap { segment -> [UInt8] in [0xFF, 0xFF] + segment }
        #expect(filled.count > file.count)
        #expect(throws: Never.self) { try ImageVerifier.verify(filled.span) }
    }

    @Test(arguments: [1, 301, 40_000])
    func longRunsOfFillBytesPassVerification(pieceSize: Int) throws {
        let fill = [UInt8](repeating: 0xFF, count: 5_000)
        var parts = segments(try Kind(quality: 95).file(200, 150))
        // Also before a stuffed zero: no rule allows this, but libjpeg does.
        let scan = try lastScan(parts)
        let stuffing = try parts[scan].indices.dropFirst(100).first {
            parts[scan][$0 - 1] == 0xFF && parts[scan][$0] == 0
        }.unwrapped()
        parts[scan].insert(contentsOf: fill, at: stuffing)
        let file = parts[0] + parts.dropFirst().flatMap { fill + $0 }
        #expect(error(file, inPiecesOf: pieceSize) == nil)
    }

    @Test func jpegFillBytesWithoutEndAreCorruptAndNotHeld() throws {
        var parts = segments(try Kind().file(64, 48))
        let scan = try lastScan(parts)
        parts[scan] = Array(parts[scan].prefix(dataStart(parts[scan]) + 1))
        let beginning = parts[...scan].flatMap { $0 }
        let fill = [UInt8](repeating: 0xFF, count: 200_000)
        #expect(error(beginning + fill) == .corrupt(.jpeg, "too many fill bytes"))
        #expect(throws: CodecError.corrupt(.jpeg, "too many fill bytes")) { try decode(beginning + fill) }
    }

    @Test(.enabled(if: TestJPEGScans.isAvailable, "cjpeg is not installed"), arguments: [1, 301, 40_000])
    func longSegmentsBetweenScansPassVerification(pieceSize: Int) throws {
        let file = try TestJPEGScans(name: "one scan a channel", script: "0; 1; 2;").file(TestImage.photo(64, 48))
        let comment: [UInt8] = [0xFF, 0xFE, 0x40, 0] + [UInt8](repeating: 0xFF, count: 0x4000 - 2)
        let commented = segments(file).flatMap { isScan($0) ? comment + $0 : $0 }
        #expect(error(commented, inPiecesOf: pieceSize) == nil)
    }

    @Test func jpegVerifierIgnoresBytesAfterTheEndMarker() throws {
        let file = try Kind().file(64, 48) + [1, 2, 3]
        #expect(throws: Never.self) { try ImageVerifier.verify(file.span) }
    }

    @Test func progressiveJPEGWithFewerScansPassesVerification() throws {
        var parts = segments(try Kind(isProgressive: true).file(64, 48))
        parts.remove(at: try lastScan(parts))
        #expect(error(parts.flatMap(\.self)) == nil)
    }

    // MARK: Damaged scans

    /// Ways to damage the data of a scan.
    enum Damage: CaseIterable {
        case zeros, noise, cut, missing

        func apply(to data: [UInt8]) -> [UInt8] {
            var random = SeededGenerator(seed: 7)
            switch self {
            case .zeros: return [UInt8](repeating: 0, count: data.count)
            // Without FF, which would be a marker.
            case .noise: return data.map { _ in .random(in: 0..<0xFF, using: &random) }
            case .cut: return Array(data.prefix(data.count / 2))
            case .missing: return []
            }
        }
    }

    @Test(arguments: progressive, Damage.allCases)
    func verifierFindsDamageInLaterScansOfAProgressiveJPEG(kind: Kind, damage: Damage) throws {
        let file = try kind.file(200, 150)
        let parts = segments(file)
        let eighth = DecodeOptions(target: .maximumSide(12))
        let laterScans = parts.indices.filter { isScan(parts[$0]) && parts[$0][5 + 2 * Int(parts[$0][4])] > 0 }
        #expect(laterScans.count > 2)
        for index in laterScans {
            var damaged = parts
            let start = dataStart(parts[index])
            damaged[index] = Array(parts[index][..<start]) + damage.apply(to: Array(parts[index][start...]))
            let bytes = damaged.flatMap(\.self)
            // A decode skips the detail of the first channel.
            if parts[index][4...5] == [1, 1] {
                #expect(throws: Never.self) { try decode(bytes, options: eighth) }
            }
            #expect(throws: CodecError.self, "scan at segment \(index)") { try ImageVerifier.verify(bytes.span) }
        }
    }

    @Test(arguments: Damage.allCases)
    func verifierFindsDamageInABaselineJPEG(damage: Damage) throws {
        var parts = segments(try Kind(quality: 95).file(200, 150))
        let index = try lastScan(parts)
        let start = dataStart(parts[index])
        parts[index] = Array(parts[index][..<start]) + damage.apply(to: Array(parts[index][start...]))
        #expect(error(parts.flatMap(\.self)) != nil)
    }

    @Test(arguments: [1, 301, 40_000])
    func verifierFindsInvalidJPEGCodesInPiecesOfAnySize(pieceSize: Int) throws {
        // A column of blocks. Ones are no code; each is taken for a zero after 17 bits, so these are 4 blocks more.
        let invalid: [UInt8] = Array(repeatElement([0xFF, 0], count: 17).joined())
        let height = 1_600
        var parts = segments(try Kind(isGray: true, quality: 95).file(8, height))
        let frame = try parts.firstIndex { $0[1] == 0xC0 }.unwrapped()
        parts[frame].replaceSubrange(5...6, with: [UInt8((height + 32) >> 8), UInt8((height + 32) & 0xFF)])
        let scan = try lastScan(parts)
        #expect(parts[scan].count > 4_096)
        parts[scan].insert(contentsOf: invalid, at: dataStart(parts[scan]))
        let file: [UInt8] = parts.flatMap(\.self)
        guard case .corrupt(.jpeg, let detail) = error(file, inPiecesOf: pieceSize) else {
            Issue.record("it passed")
            return
        }
        #expect(detail.contains("bad Huffman code"))
    }

    @Test func jpegEndMarkerInsideAScanFailsVerification() throws {
        var parts = segments(try Kind(isProgressive: true).file(200, 150))
        let index = try lastScan(parts)
        parts[index] = Array(parts[index].prefix(parts[index].count / 2))
        #expect(error(parts.flatMap(\.self)) == .truncated(.jpeg))
    }

    @Test(arguments: Kind.all)
    func jpegCutBeforeItsEndMarkerFailsVerificationAsTruncated(kind: Kind) throws {
        let file = try kind.file(40, 30)
        for end in 1..<file.count - 2 {
            #expect(error(Array(file[..<end])) == .truncated(.jpeg), "\(end) of \(file.count) bytes")
        }
    }

    // MARK: Structure

    @Test func jpegScanWithoutTheScanItRefinesFailsVerification() throws {
        let file = try Kind(isProgressive: true).file(64, 48)
        let parts = segments(file)
        // The first scan of details that a later one refines: its low bits are missing, its high ones are not.
        let first = try parts.firstIndex {
            isScan($0) && $0[4] == 1 && $0[7] > 0 && $0[9] > 0 && $0[9] < 16
        }.unwrapped()
        var damaged = parts
        damaged.remove(at: first)
        #expect(error(damaged.flatMap(\.self)) != nil)
    }

    @Test(.enabled(if: TestJPEGScans.isAvailable, "cjpeg is not installed"))
    func jpegChannelWithoutAScanFailsVerification() throws {
        let file = try TestJPEGScans(name: "one scan a channel", script: "0; 1; 2;").file(TestImage.photo(64, 48))
        var parts = segments(file)
        parts.remove(at: try lastScan(parts))
        #expect(error(parts.flatMap(\.self)) == .truncated(.jpeg))
    }

    @Test func jpegVerifierLimitsTheNumberOfScans() throws {
        let file = try Kind(isProgressive: true).file(64, 64)
        #expect(throws: CodecError.overLimit(.scans, value: 10, limit: 9)) {
            try ImageVerifier.verify(file.span, limits: DecodeLimits(maximumScans: 9))
        }
        #expect(throws: Never.self) { try ImageVerifier.verify(file.span, limits: DecodeLimits(maximumScans: 10)) }
    }

    @Test func pixelsOfAllJPEGScansAreLimitedInVerification() throws {
        let file = try Kind(isProgressive: true).file(64, 64)
        let error = CodecError.overLimit(.work, value: 10 * 4_096, limit: 40_959)
        #expect(throws: error) { try ImageVerifier.verify(file.span, limits: DecodeLimits(maximumWork: 40_959)) }
        #expect(throws: Never.self) { try ImageVerifier.verify(file.span, limits: DecodeLimits(maximumWork: 40_960)) }
    }

    // MARK: Memory

    @Test func jpegVerifierMemoryIsOneBitPerCoefficient() {
        func bytes(_ sampling: [UInt8], isProgressive: Bool) -> Int {
            var header = ImageHeader(format: .jpeg, size: PixelSize(width: 0x3FFF, height: 0x3FFF))
            header.sampling = sampling.map(SamplingFactors.init(byte:))
            header.isProgressive = isProgressive
            return JPEGVerifier.workingBytes(of: header, beginning: [UInt8]().span)
        }
        #expect((100...115).contains(bytes([0x11, 0x11, 0x11], isProgressive: true) / 1_000_000))
        #expect((50...60).contains(bytes([0x22, 0x11, 0x11], isProgressive: true) / 1_000_000))
        #expect(bytes([0x22, 0x11, 0x11], isProgressive: false) < 10_000_000)
    }
}
