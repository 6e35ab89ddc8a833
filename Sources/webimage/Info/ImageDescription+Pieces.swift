import AsyncWebImage
import ImageCodecs

extension ImageDescription {
    /// Adds the properties of the image in `pieces`, of which no more are read than they need.
    mutating func read(_ pieces: any ImagePieces) async throws {
        let decoder = StreamingDecoder(customFormats: CommandFormats.custom)
        let reader = ImageHeaderReader(customFormats: CommandFormats.custom)
        var animation = StreamingAnimation(customFormats: CommandFormats.custom)
        var count = 0
        while decoder.header == nil, let piece = try await pieces.next() {
            count += piece.count
            try decoder.append(piece.span)
            try reader.append(piece.span)
            try animation.append(piece.span)
        }
        try decoder.lookForHeaderAtEnd()
        // Without a header, the decoder throws the reason.
        let header = try decoder.header ?? decoder.finish().header
        (self.header, bytesRead) = (header, count)
        if header.mayBeAnimated {
            while let piece = try await pieces.next() {
                count += piece.count
                try animation.append(piece.span)
            }
            bytesRead = count
            describe(try animation.finish())
        } else if header.canChangeOrientation {
            while let piece = try await pieces.next() { try reader.append(piece.span) }
            self.header = try reader.finish()
        }
    }
}
