/// Finds the gain map of a JPEG file that announces one and arrives in pieces.
///
/// Holds the metadata in front of the pixels, and later one of the pictures behind them at a time.
package struct GainMapScanner: Sendable {
    /// The maximum number of bytes in front of the pixels that are searched for the directory of pictures.
    private static let maximumHeadBytes = 1 << 20

    /// The gain map; `nil` until it has arrived.
    package private(set) var map: [UInt8]?

    /// The beginning of the file, until the directory is known.
    private var head: [UInt8] = []
    /// The places of the pictures to come; `nil` until the directory is known.
    private var places: [Range<Int>]?
    /// The number of pictures that can be the gain map.
    private var count = 0
    /// The received part of the next picture.
    private var picture: [UInt8] = []
    private var position = 0

    package init() {}

    /// Continues the search in the next piece of the file.
    package mutating func append(_ piece: Span<UInt8>) {
        guard places == nil else { return collect(piece) }
        if head.isEmpty, let places = JPEGPictureDirectory.places(in: piece) {
            begin(places)
            return collect(piece)
        }
        head.append(piece)
        guard let places = JPEGPictureDirectory.places(in: head.span) ?? (head.count < Self.maximumHeadBytes ? nil : [])
        else { return }
        begin(places)
        let beginning = head
        head = []
        collect(beginning.span)
    }

    private mutating func begin(_ all: [Range<Int>]) {
        let usable = all.filter { $0.count <= GainMap.maximumBytes }.sorted { $0.lowerBound < $1.lowerBound }
        (places, count) = (usable, usable.count)
    }

    private mutating func collect(_ piece: Span<UInt8>) {
        let end = position + piece.count
        while map == nil, let place = places?.first, place.lowerBound < end {
            let part = place.clamped(to: position..<end)
            // Of pictures that overlap, only the first is read.
            if part.lowerBound == place.lowerBound + picture.count {
                picture.append(piece.extracting(part.lowerBound - position..<part.upperBound - position))
            }
            guard place.upperBound <= end else { break }
            if picture.count == place.count, GainMap.isGainMap(picture.span, among: count) { map = picture }
            picture = []
            places?.removeFirst()
        }
        position = end
    }
}
