import CChecksum
import Testing

@testable import Hashing

struct CRC32CTests {
    private let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 3) }

    @Test func crc32cMatchesKnownValues() {
        #expect(CRC32C(of: Array("123456789".utf8).span).value == 0xE306_9283)
        // RFC 3720, section B.4.
        #expect(CRC32C(of: [UInt8](repeating: 0, count: 32).span).value == 0x8A91_36AA)
        #expect(CRC32C(of: [UInt8](repeating: 0xFF, count: 32).span).value == 0x62A8_AB43)
        #expect(CRC32C(of: [UInt8]().span).value == 0)
    }

    @Test func crc32cCanBeComputedInPieces() {
        let whole = CRC32C(of: bytes.span)
        for cut in [0, 1, 7, 8, 9, 500, 999, 1_000] {
            var checksum = CRC32C(of: bytes.span.extracting(..<cut))
            checksum = CRC32C(checksum.value)
            checksum.update(bytes.span.extracting(cut...))
            #expect(checksum == whole, "cut at \(cut)")
        }
    }

    @Test func crc32cInstructionAndTablesAgree() {
        for count in [0, 1, 7, 8, 9, 63, 1_000, 1_535, 1_536, 1_543, 4_000, bytes.count] {
            let beginning = Array(bytes.prefix(count))
            let plain = beginning.withUnsafeBufferPointer { cchecksum_crc32c_plain(0, $0.baseAddress, $0.count) }
            #expect(CRC32C(of: beginning.span).value == plain)
        }
    }
}
