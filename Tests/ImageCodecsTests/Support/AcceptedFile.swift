import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Returns the warnings of a file that is complete: it passes verification, and its decode has the same warnings and the
/// pixels of `original`, whole or byte by byte.
func warnings(of file: [UInt8], like original: [UInt8]) throws -> Set<ImageWarning> {
    let header = try ImageVerifier.verify(file.span)
    let pixels = try decode(original).pixels
    for step in [file.count, 1] {
        let image = try decode(file) { step }
        #expect(image.pixels == pixels && !image.isPartial)
        #expect(image.header.warnings == header.warnings, "in pieces of \(step) bytes")
    }
    let frames = try AnimatedImage(file)
    #expect(try frames.allFrames() == AnimatedImage(original).allFrames())
    return header.warnings
}

/// Returns the error of verifying a file, which is also an error of decoding it.
func commonError(of file: [UInt8]) -> CodecError? {
    let decoded = #expect(throws: CodecError.self) { try AnimatedImage(file).allFrames() }
    let verified = #expect(throws: CodecError.self) { try ImageVerifier.verify(file.span) }
    return decoded == nil ? nil : verified
}
