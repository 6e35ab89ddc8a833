/// The boxes that describe the items of a file, such as AVIF and HEIC: images, tiles, and metadata (ISO/IEC 14496-12,
/// 8.11).
package enum ItemBoxes {
    /// Returns whether a gain map is among the items: one to apply (`tmap`; ISO 21496-1), or the auxiliary image of Apple's
    /// photos.
    package static func announceGainMap(in file: Span<UInt8>) -> Bool {
        var isFound = !identifiers(of: ["tmap"], in: file).isEmpty
        forEachTable("iprp", in: file) { properties in
            forEachBox("ipco", in: file, properties) { container in
                forEachBox("auxC", in: file, container) { box in
                    // After the version and the flags.
                    isFound = isFound || file.has("urn:com:apple:photo:2020:aux:hdrgainmap\0", at: box.lowerBound + 4)
                }
            }
        }
        return isFound
    }

    /// Returns the identifiers of the items of the types `names`, from boxes `infe`.
    package static func identifiers(of names: [StaticString], in file: Span<UInt8>) -> Set<Int> {
        var identifiers: Set<Int> = []
        forEachTable("iinf", in: file) { table in
            let entries = table.lowerBound + (file.byte(at: table.lowerBound) == 0 ? 6 : 8)
            guard entries <= table.upperBound else { return }
            forEachBox("infe", in: file, entries..<table.upperBound) { box in
                // Earlier versions have no types.
                guard let version = file.byte(at: box.lowerBound), version >= 2 else { return }
                let start = box.lowerBound + 4
                let identifier = version == 2 ? file.bigEndian16(at: start) : file.bigEndian32(at: start)
                let type = start + (version == 2 ? 4 : 6)
                guard let identifier, type + 4 <= box.upperBound else { return }
                if names.contains(where: { file.has($0, at: type) }) { identifiers.insert(identifier) }
            }
        }
        return identifiers
    }

    /// Passes the place of the content of each box of this name in the tables of items (`meta`) to `body`.
    package static func forEachTable(_ name: StaticString, in file: Span<UInt8>, _ body: (Range<Int>) -> Void) {
        forEachBox("meta", in: file, 0..<file.count) { box in
            // After the version and the flags.
            forEachBox(name, in: file, min(box.lowerBound + 4, box.upperBound)..<box.upperBound, body)
        }
    }

    /// Passes the place of the content of each box of this name in `range` to `body`.
    package static func forEachBox(
        _ name: StaticString, in file: Span<UInt8>, _ range: Range<Int>, _ body: (Range<Int>) -> Void
    ) {
        var start = range.lowerBound
        while start + 8 <= range.upperBound, let length = file.bigEndian32(at: start) {
            var header = 8
            var end = start + max(length, 8)
            if length == 0 { end = range.upperBound }
            if length == 1 {
                header = 16
                guard file.bigEndian32(at: start + 8) == 0, let low = file.bigEndian32(at: start + 12) else { return }
                end = start + max(low, 16)
            }
            end = min(end, range.upperBound)
            if file.has(name, at: start + 4), start + header <= end { body(start + header..<end) }
            start = end
        }
    }
}
