import ImageCodecs

// The gain map of an image that is only scaled, which is behind the image.
extension Conversion {
    /// Returns whether the gain map of an image with `header` is kept, if there is one.
    func keepsGainMap(_ header: ImageHeader) -> Bool {
        plan.keepsGainMap(header) && (format == nil || format == .jpeg)
    }

    /// Returns the gain map in `file`, and continues with its first piece; `nil` if there is none.
    func gainMap(in file: FilePieces) async throws -> [UInt8]? {
        guard let count = file.expectedCount else { return nil }
        let head = try await bytes(0..<min(count, GainMap.maximumHeadBytes), of: file)
        var map: [UInt8]?
        let places = GainMap.places(in: head.span)
        for place in places where map == nil && place.upperBound <= count {
            let picture = try await bytes(place, of: file)
            if GainMap.isGainMap(picture.span, among: places.count) { map = picture }
        }
        try file.move(to: 0)
        return map
    }

    private func bytes(_ range: Range<Int>, of file: FilePieces) async throws -> [UInt8] {
        try file.move(to: range.lowerBound)
        var bytes: [UInt8] = []
        while bytes.count < range.count, let piece = try await file.next() {
            bytes += piece.prefix(range.count - bytes.count)
        }
        return bytes
    }
}
