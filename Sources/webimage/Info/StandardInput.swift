import AsyncWebImage
import ImageCodecs

/// An image on standard input, of which no more is read than its description needs.
struct StandardInput {
    let blocks: InputBlocks

    /// Returns the header, with the orientation that can follow the pixels, and the bytes read before it was known.
    func header() async throws -> (header: ImageHeader, bytes: [UInt8]) {
        let decoder = StreamingDecoder(customFormats: CommandFormats.custom)
        let reader = ImageHeaderReader(customFormats: CommandFormats.custom)
        var bytes: [UInt8] = []
        while decoder.header == nil, let block = try await next() {
            bytes += block
            try decoder.append(block.span)
            try reader.append(block.span)
        }
        try decoder.lookForHeaderAtEnd()
        // Without a header, the decoder throws the reason.
        let header = try decoder.header ?? decoder.finish().header
        guard header.canChangeOrientation, !header.mayBeAnimated else { return (header, bytes) }
        while let block = try await next() { try reader.append(block.span) }
        return (try reader.finish(), bytes)
    }

    /// Returns the whole file, which begins with `bytes`.
    func wholeFile(after bytes: [UInt8]) async throws -> [UInt8] {
        var file = bytes
        while let block = try await next() { file += block }
        return file
    }

    /// Returns the next block; throws an error at the size limit of files, because an input can be endless.
    private func next() async throws -> [UInt8]? {
        let block = try await blocks.next()
        if block == nil { try Task.checkCancellation() }
        let limit = DecodeLimits().maximumBytes
        guard blocks.bytesRead <= limit else {
            throw CodecError.overLimit(.bytes, value: blocks.bytesRead, limit: limit)
        }
        return block
    }
}
