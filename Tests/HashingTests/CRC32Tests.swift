import Hashing
import Testing

struct CRC32Tests {
    private let text = Array("123456789".utf8)

    private func checksum(_ pieces: [UInt8]...) -> UInt32 {
        var checksum = CRC32()
        for piece in pieces { checksum.update(piece.span) }
        return checksum.value
    }

    @Test func crc32MatchesItsCheckValue() {
        #expect(checksum(text) == 0xCBF4_3926)
        #expect(checksum([]) == 0)
    }

    @Test func crc32OfPiecesEqualsThatOfTheWhole() {
        for cut in 0...text.count {
            #expect(checksum(Array(text[..<cut]), [], Array(text[cut...])) == checksum(text))
        }
    }

    @Test func crc32ContinuesFromAnEarlierValue() {
        var continued = CRC32(checksum(Array(text[..<4])))
        let end = Array(text[4...])
        continued.update(end.span)
        #expect(continued.value == checksum(text))
    }
}
