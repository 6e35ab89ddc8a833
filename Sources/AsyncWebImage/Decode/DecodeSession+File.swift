import ImageCodecs
import ImageEncoders

#if Tracing
import Tracing
#endif

extension DecodeSession where Input == BodyReader {
    /// Returns the image, encoded according to the rule.
    @concurrent func runFile(_ identity: FileIdentity) async throws -> EncodedFile {
        try await withTaskExecutorPreference(decoder.threads) {
            do {
                let file = try await fromFirstByte { try await $0.makeFile(identity) }
                return EncodedFile(file.bytes, file.format, file.size, of: file.header, isPartial: file.isPartial)
            } catch let error as OutputTooLarge {
                throw error.cause
            }
        }
    }
}

// Files that are made of images: decoded and encoded within one grant of memory.
extension DecodeSession {
    func makeFile(_ rule: any FileRule) async throws -> MadeFile {
        var session = self
        session.metadata = MetadataCollector(rule.metadata)
        var codec = decoder.codec(options)
        var beginning: [[UInt8]] = []
        _ = try await session.readHeader(codec) { if reader.body != nil { beginning.append($0) } }
        var searchBytes = 0
        if codec.plan == nil, let storage = reader.storage {
            let limit = codec.maximumHeaderBytes
            codec = decoder.codec(options)
            searchBytes = try await storage.search(upTo: limit, decoder, admit: storage.admit) { [codec] piece in
                if codec.expectedLength == nil { codec.expectedLength = storage.expectedLength }
                if let piece { try codec.append(piece.span) } else { try codec.lookForHeaderAtEnd() }
                return codec.plan != nil
            }
            session.metadata?.reset()
        }
        // Without a header, the codec throws the reason.
        let header = try codec.header ?? codec.finish().header
        let plan = try rule.plan(for: header)
        session.options = plan.options
        session.transformations = plan.transformations
        if !plan.keepsGainMap { session.metadata?.skipGainMap() }
        if plan.options != options { try codec.replaceOptions(plan.options) }
        let decode = codec.plan
        let headerBytes = codec.needsWholeFile ? 0 : searchBytes
        // Its memory was granted for the search only.
        if searchBytes > 0 { codec = decoder.codec(plan.options) }
        if let decode, let animated = plan.animated, header.mayBeAnimated {
            let original = reader.storage == nil ? try await session.readAnimation(decode, beginning) : nil
            beginning = []
            return try await session.makeAnimation(original, header, decode, plan, animated, rule)
        }
        beginning = []
        let encoding = session
        let bytes = try decode.map { try encoding.encodingBytes(plan, header, $0) } ?? 0
        return try await encoding.decodeImage(codec, plan: decode, extraBytes: bytes.saturatingSum(headerBytes)) {
            try encoding.encode($0, plan, rule)
        }
    }

    /// Returns the maximum memory for encoding a still image and keeping its gain map, in bytes.
    func encodingBytes(_ plan: FilePlan, _ header: ImageHeader, _ decode: DecodePlan) throws -> Int {
        let hasAlpha = header.hasAlpha || options.allowsPartial || !transformations.isEmpty
        return plan.workingBytes(for: try transformedSize(decode), hasAlpha: hasAlpha)
            .saturatingSum(plan.keepsGainMap ? 2 * GainMap.maximumBytes : 0)
    }

    func encode(_ image: DecodedImage, _ plan: FilePlan, _ rule: any FileRule) throws -> MadeFile {
        try rule.inspect(image)
        #if Tracing
        let span = DecodeSpan.current?.startPart("encode")
        defer { span?.end() }
        #endif
        let options = plan.encoding(of: image.pixels)
        let metadata = fileMetadata(for: options, profile: image.iccProfile)
        return MadeFile(
            bytes: try image.pixels.encoded(with: options, metadata: metadata, maximumBytes: plan.maximumBytes),
            format: options.format, size: image.pixels.size, header: image.header, isPartial: image.isPartial,
            hasGainMap: metadata.gainMap != nil)
    }

    func fileMetadata(for options: EncodeOptions, profile: [UInt8]?) -> ImageMetadata {
        var metadata = ImageMetadata(
            colorProfile: profile, exif: metadata?.exif,
            gainMap: options.format == .jpeg ? metadata?.gainMap : nil)
        // A segment of JPEG holds no more.
        if options.format == .jpeg, let exif = metadata.exif, exif.count > 65_527 { metadata.exif = nil }
        metadata.resetOrientation()
        return metadata
    }
}
