import ImageCodecs
import ImageTestSupport
import Testing

@Suite(.enabled(if: Corpus.isAvailable, "set WEBIMAGE_CORPUS"))
struct HeaderCorpusTests {
    @Test(arguments: ImageFormat.allBuiltIn)
    func validCorpusFilesHaveTheSizeAndFramesOfTheManifest(format: ImageFormat) throws {
        for file in try Corpus.files() where file.isValid && file.format == format {
            let bytes = try file.bytes()
            do {
                let limits = DecodeLimits(maximumSide: 100_000)
                let header = try #require(try ImageHeader.probe(bytes.span, limits: limits), "\(file.path)")
                #expect(header.format == format, "\(file.path)")
                #expect(header.size.width == file.width && header.size.height == file.height, "\(file.path)")
                // Without its trailer, a GIF may continue.
                if header.frameCount != nil || !file.path.contains("no_trailer") {
                    #expect(header.frameCount == file.frames, "\(file.path)")
                }
            } catch CodecError.unsupportedFeature(.jpeg, _) {
                // 12 bits per channel, and lossless.
            } catch {
                Issue.record("\(file.path): \(error)")
            }
        }
    }

    @Test
    func orientationOfCorpusFilesIsRead() throws {
        for row in try Corpus.table("orient.tsv") {
            let file = try #require(try Corpus.files().first { $0.path == row["path"] })
            let bytes = try file.bytes()
            let header = try #require(try ImageHeader.probe(bytes.span))
            // The test image of libpng has its eXIf chunk after the pixels.
            if header.hasTrailingOrientation || file.path.hasSuffix("/pngtest.png") { continue }
            #expect(header.orientation.rawValue == row["orientation"].flatMap { Int($0) }, "\(file.path)")
        }
    }

    @Test
    func longerPrefixOfCorpusFileNeverChangesTheHeader() throws {
        for file in try Corpus.files() {
            let bytes = try file.bytes()
            var known: ImageHeader?
            for length in 0...min(bytes.count, 1_500) {
                guard let header = try? ImageHeader.probe(bytes.span.extracting(first: length)) else {
                    #expect(known == nil, "\(file.path) at \(length)")
                    continue
                }
                // Only the number of frames can become known later.
                if var before = known {
                    before.frameCount = before.frameCount ?? header.frameCount
                    #expect(header == before, "\(file.path) at \(length)")
                }
                known = header
            }
        }
    }
}
