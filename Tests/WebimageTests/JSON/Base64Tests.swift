import Foundation
import Testing

@testable import webimage

struct Base64Tests {
    @Test(arguments: 0...10) func base64OfEveryLengthHasItsPadding(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 97 &+ 250) }
        #expect(String(decoding: Base64.text(of: bytes), as: UTF8.self) == "\"\(Data(bytes).base64EncodedString())\"")
    }
}
