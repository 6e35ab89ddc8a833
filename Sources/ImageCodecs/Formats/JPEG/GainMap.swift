/// The gain map of a JPEG file: a second JPEG file behind the image, with which displays of high dynamic range make parts
/// brighter (ISO 21496-1, Ultra HDR).
///
/// Its place is in the directory of pictures, among which its metadata identify it.
package enum GainMap {
    /// The maximum size of a gain map, in bytes.
    package static let maximumBytes = 16 << 20

    /// Returns whether a picture, one of `count`, is the announced gain map: it has the metadata of one, or is the only
    /// picture.
    static func isGainMap(_ picture: Span<UInt8>, among count: Int) -> Bool {
        picture.has(2, at: 0) && picture[0] == 0xFF && picture[1] == 0xD8
            && (count == 1
                || JPEGMetadataSegments(picture).segments.contains {
                    ImageHeader.describesGainMap($0.marker, picture.extracting($0.content))
                })
    }

    /// Returns the gain map in a complete file that announces one; `nil` if there is none.
    static func read(in file: Span<UInt8>) -> [UInt8]? {
        var scanner = GainMapScanner()
        scanner.append(file)
        return scanner.map
    }
}
