import Foundation
import ImageCodecs
import Testing

struct CodecErrorTests {
    @Test(arguments: [
        (CodecError.Limit.pixels, "pixels", "maximumPixels"), (.side, "pixels on one side", "maximumSide"),
        (.bytes, "bytes", "maximumBytes"), (.scans, "scans", "maximumScans"), (.frames, "frames", "maximumFrames"),
        (.headerBytes, "header bytes", "maximumHeaderBytes"),
    ])
    func exceededLimitSuggestsItsProperty(limit: CodecError.Limit, unit: String, property: String) {
        let error = CodecError.overLimit(limit, value: 3, limit: 2)
        // Programs that are not written in Swift have other names for it.
        #expect("\(error)" == "the image has 3 \(unit), which exceeds the limit of 2")
        #expect(error.localizedDescription == error.description)
        #expect(error.recoverySuggestion == "Increase DecodeLimits.\(property) to allow such images.")
    }

    @Test func tooMuchWorkSuggestsItsProperty() {
        let error = CodecError.overLimit(.work, value: 3, limit: 2)
        let text = "the image needs 3 pixels of work on all scans or frames, which exceeds the limit of 2"
        #expect(error.description == text)
        #expect(error.recoverySuggestion == "Increase DecodeLimits.maximumWork to allow such images.")
    }

    @Test func otherErrorsHaveNoSuggestion() {
        let memory = CodecError.overLimit(.memory, value: 3, limit: 2)
        #expect(memory.description == "the image needs 3 bytes of memory, which exceeds the limit of 2")
        #expect(memory.recoverySuggestion == nil)
        #expect(CodecError.truncated(.gif).recoverySuggestion == nil)
    }

    @Test func missingMemoryIsNotDamage() {
        let error = CodecError.outOfMemory(.webp)
        #expect(error.description == "there is not enough memory to decode the WebP file")
        #expect(error != .corrupt(.webp, ""))
    }
}
