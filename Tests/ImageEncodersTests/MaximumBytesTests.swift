import ImageCodecs
import ImageTestSupport
import Testing

@testable import ImageEncoders

/// Files of the best quality below a size.
struct MaximumBytesTests {
    private let photo = TestImage.photo(120, 90)

    @Test(arguments: [EncodeOptions.jpeg(), .webp()])
    func fileHasTheHighestQualityThatFits(options: EncodeOptions) throws {
        func size(_ quality: Int) throws -> Int {
            try photo.encoded(with: try EncodeOptions(options.format, quality: quality)).count
        }
        let limit = try size(40)
        let file = try photo.encoded(with: options, maximumBytes: limit)
        #expect(file.count <= limit)
        #expect(try file.count >= size(39))
        #expect(try decode(file).pixels.size == photo.size)
    }

    @Test func fileThatFitsKeepsItsQuality() throws {
        let file = try photo.encoded(as: .jpeg, quality: 85)
        #expect(try photo.encoded(with: .jpeg(JPEGOptions(quality: 85)), maximumBytes: file.count) == file)
    }

    @Test(arguments: [EncodeOptions.jpeg(), .webp(), .png(), .gif(), .webp(WebPOptions(isLossless: true))])
    func limitThatNoQualityMeetsIsAnError(options: EncodeOptions) throws {
        let options = options
        let error = #expect(throws: CodecError.self) { try photo.encoded(with: options, maximumBytes: 100) }
        guard case .encodingFailed(options.format, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("over the limit of 100"))
    }
}
