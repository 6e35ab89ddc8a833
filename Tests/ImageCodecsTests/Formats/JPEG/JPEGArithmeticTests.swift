import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Arithmetic-coded files, whose encoder drops the zeros at the end of a scan, and whose decoder continues with zeros.
@Suite(.enabled(if: TestJPEGScans.isAvailable, "cjpeg is not installed"), .timeLimit(.minutes(5)))
struct JPEGArithmeticTests {
    static let kinds = [
        TestJPEGScans(name: "sequential", options: "-arithmetic"),
        TestJPEGScans(name: "restart markers", options: "-arithmetic -restart 1"),
        TestJPEGScans(name: "progressive", options: "-arithmetic -progressive"),
    ]

    @Test(arguments: kinds)
    func arithmeticScanThatWasCutFailsVerification(kind: TestJPEGScans) throws {
        let file = try kind.file(TestImage.noise(120, 90, seed: 8, isOpaque: true))
        let last = try file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA }.unwrapped()
        let start = last + 4 + Int(file[last + 3])
        for share in 0..<9 {
            var cut = Array(file[..<(start + (file.count - start) * share / 10)])
            if cut.last == 0xFF { cut.removeLast() }
            cut += [0xFF, 0xD9]
            #expect(throws: CodecError.self, "\(share) of 10 parts") { try ImageVerifier.verify(cut.span) }
            #expect(throws: CodecError.self, "\(share) of 10 parts") { try decode(cut) }
        }
    }

    /// Flat parts are predicted so well that their code consists of zeros.
    @Test(arguments: kinds)
    func arithmeticFileWithAFlatEndPassesVerification(kind: TestJPEGScans) throws {
        for shade in [0, 128, 255] as [UInt8] {
            for flatRows in [8, 100, 128] {
                var image = TestImage.noise(200, 128, seed: 9, isOpaque: true)
                let flat = (image.height - flatRows) * image.width * 4
                for index in flat..<image.bytes.count where index % 4 != 3 { image.bytes[index] = shade }
                let file = try kind.file(image)
                #expect(throws: Never.self, "\(flatRows) rows of \(shade)") { try ImageVerifier.verify(file.span) }
                #expect(throws: Never.self, "\(flatRows) rows of \(shade)") { try decode(file) }
            }
        }
    }

    @Test func arithmeticFileWithoutAnEndMarkerIsTruncated() throws {
        let file = try Array(Self.kinds[0].file(TestImage.photo(64, 48)).dropLast(2))
        #expect(throws: CodecError.truncated(.jpeg)) { try ImageVerifier.verify(file.span) }
        #expect(throws: CodecError.truncated(.jpeg)) { try decode(file) }
    }
}
