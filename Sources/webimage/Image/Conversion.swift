import AsyncWebImage
import ImageCodecs
import ImageEncoders
import ImageProcessing

/// Decodes and encodes an image within the memory granted for it.
struct Conversion {
    /// The encoded file.
    struct EncodedImage: Sendable {
        let bytes: [UInt8]
        let format: ImageFormat
    }

    let decoder: ImageDecoder
    let memory: MemoryLimits
    let plan: OutputPlan
    /// The output format; `nil` for the default: JPEG, PNG if the image has transparency, or the animation's own
    /// format.
    let format: ImageFormat?
    /// The folder for temporary files of images that need much memory, until they are complete.
    let folder: OutputFolder
    /// The hashes to compute of the pixels; of an animation, those of its first frame.
    var hashes: [PixelHash] = []
    /// Throws an error if an image with this header must not be converted.
    var admission: @Sendable (ImageHeader) throws -> Void = { _ in }

    /// Returns the converted image; reads `pieces` to their end, or as far as the image needs them.
    ///
    /// Throws ``CodecError``, ``MemoryShortage``, and the errors of `pieces`. Starts over whenever `pieces` does.
    func run(_ pieces: any ImagePieces, into facts: inout ImageFacts) async throws -> EncodedImage {
        while true {
            do { return try await attempt(pieces, &facts) } catch is StartedOver {}
        }
    }

    private func attempt(_ pieces: any ImagePieces, _ facts: inout ImageFacts) async throws -> EncodedImage {
        var codec = decoder.codec(plan.options)
        var beginning: [UInt8] = []
        while codec.plan == nil, beginning.count < MemoryLimits.beginning, let piece = try await pieces.next() {
            beginning += piece
            try codec.append(piece.span)
        }
        var pieces = pieces
        var bytesOfSearch = 0
        if codec.plan == nil, beginning.count >= MemoryLimits.beginning {
            let limit = codec.maximumHeaderBytes
            codec = decoder.codec(plan.options)
            let file = folder.makeFile()
            try file.append(beginning)
            beginning = []
            var end: ImageError?
            do {
                bytesOfSearch = try await file.appendMetadata(pieces, limit: limit)
            } catch let error as ImageError where plan.options.allowsPartial {
                (end, bytesOfSearch) = (error, 2 * file.count)
            }
            try memory.admitConversion(of: bytesOfSearch)
            let written = try file.pieces()
            try await decoder.withMemory(bytesOfSearch) {
                while codec.plan == nil, let piece = try await written.next() { try codec.append(piece.span) }
                try codec.lookForHeaderAtEnd()
            }
            if let end {
                pieces = try file.pieces(end: end)
            } else if codec.plan != nil {
                pieces = try await onDisk(pieces, behind: file)
            }
        }
        try codec.lookForHeaderAtEnd()
        if let header = codec.header { try codec.replaceOptions(plan.options(for: header)) }
        guard let decode = codec.plan, let header = codec.header else {
            // The codec throws the reason why there is no image.
            return try encoded(try codec.finish(), &facts)
        }
        facts.describe(header)
        facts.keepsGainMap = false
        try admission(header)
        // Start over from the beginning of the file.
        let options = plan.options(for: header)
        if bytesOfSearch > 0 { codec = decoder.codec(options) }
        if plan.keepsAnimations, header.mayBeAnimated {
            return try await animation(header, decode, beginning, pieces, &facts)
        }
        var fileWithMap: FilePieces?
        if keepsGainMap(header) {
            fileWithMap = bytesOfSearch > 0 ? pieces as? FilePieces : nil
            if fileWithMap == nil {
                let file = folder.makeFile()
                try file.append(beginning)
                fileWithMap = try await onDisk(pieces, behind: file)
            }
        }
        beginning = []
        let canvas = plan.resizing?.canvas(for: header.size)
        let size = try largestTransformedSize(canvas ?? decode.outputSize)
        let hasAlpha = header.hasAlpha || !plan.transformations.isEmpty
        let bytes =
            (bytesOfSearch + decode.estimatedBytes + encoderBytes(size, hasAlpha: hasAlpha)
            + (canvas?.area ?? 0) * 4 + hashBytes(size))
            .saturatingSum(transformationBytes(canvas ?? decode.outputSize))
            .saturatingSum(fileWithMap == nil ? 0 : 2 * GainMap.maximumBytes)
        try memory.admitConversion(of: bytes)
        let rest: any ImagePieces =
            if let fileWithMap { fileWithMap } else { try await bytes > MemoryLimits.small ? onDisk(pieces) : pieces }
        rest.suspendReading()
        return try await decoder.withMemory(bytes) {
            guard let fileWithMap else { return try encoded(try await decoded(codec, rest), &facts) }
            let gainMap = try await gainMap(in: fileWithMap)
            var options = options
            // It describes the stored colors.
            options.keepsProfile = options.keepsProfile || gainMap != nil
            return try encoded(try await decoded(decoder.codec(options), fileWithMap), gainMap: gainMap, &facts)
        }
    }

    private func decoded(_ codec: StreamingDecoder, _ pieces: any ImagePieces) async throws -> DecodedImage {
        do {
            try codec.begin()
            while !codec.needsNoMoreBytes, let piece = try await pieces.next() {
                try codec.append(piece.span)
                // As soon as the header is known.
                try codec.begin()
            }
        } catch let error as ImageError {
            // The transfer was interrupted: the received part is a file that ends early.
            guard plan.options.allowsPartial, let image = try? codec.finish() else { throw error }
            return image
        }
        return try codec.finish()
    }

    /// Stores the remaining pieces in a file, after those in the file `beginning` if given, and returns the pieces of
    /// the file.
    ///
    /// If partial images are allowed, an error that ends the pieces is thrown after the last piece of the file.
    ///
    /// A slow or stalled server must not hold much memory while other images wait for it.
    func onDisk(_ pieces: any ImagePieces, behind beginning: UnfinishedFile? = nil) async throws -> FilePieces {
        if beginning == nil, let file = pieces as? FilePieces { return file }
        let file = beginning ?? folder.makeFile()
        do {
            while let piece = try await pieces.next() { try file.append(piece) }
        } catch let error as ImageError where plan.options.allowsPartial {
            return try file.pieces(end: error)
        }
        return try file.pieces()
    }

    /// Returns the maximum number of bytes that an encoder holds, including the file that it produces, for an image
    /// that hardly compresses.
    private func encoderBytes(_ size: PixelSize, hasAlpha: Bool) -> Int {
        let canBeTransparent = hasAlpha || plan.options.allowsPartial
        let format = format ?? (canBeTransparent ? .png : .jpeg)
        // Arrays of NumPy take as many bytes as PNG files of noise.
        let options = (try? plan.encoding(format)) ?? .png()
        return options.encoder.workingBytes(for: size, hasAlpha: canBeTransparent)
    }

    private func encoded(
        _ image: DecodedImage, gainMap: [UInt8]? = nil, _ facts: inout ImageFacts
    ) throws -> EncodedImage {
        var image = image
        if let canvas = plan.resizing?.canvas(for: image.header.size) {
            image.pixels = image.pixels.padded(to: canvas)
        }
        if !plan.transformations.isEmpty {
            image = try image.applying(plan.transformations, limits: decoder.configuration.limits)
        }
        facts.describe(image)
        try plan.check(image.header.warnings)
        describe(image.pixels, &facts)
        facts.keepsGainMap = gainMap != nil
        return try encoded(image.pixels, profile: image.iccProfile, gainMap: gainMap)
    }

    /// Returns the size of an image of `size` after the transformations; throws if they cannot be applied.
    func transformedSize(_ size: PixelSize) throws(CodecError) -> PixelSize {
        try plan.transformations.outputSize(for: size, limits: decoder.configuration.limits)
    }

    /// Returns the larger of the sizes of the transformed image: an orientation after the pixels can still exchange the
    /// sides of an image of `size`.
    private func largestTransformedSize(_ size: PixelSize) throws(CodecError) -> PixelSize {
        let other = try? transformedSize(PixelSize(width: size.height, height: size.width))
        do {
            let first = try transformedSize(size)
            return first.area >= other?.area ?? 0 ? first : other ?? first
        } catch {
            guard let other else { throw error }
            return other
        }
    }

    /// Returns the number of bytes that the transformations of an image of `size` take: they copy it.
    func transformationBytes(_ size: PixelSize) -> Int {
        guard !plan.transformations.isEmpty else { return 0 }
        let limits = decoder.configuration.limits
        let sizes = [size, PixelSize(width: size.height, height: size.width)]
        return sizes.map { plan.transformations.workingBytes(for: $0, plan.options.pixelFormat, limits: limits) }
            .reduce(0, max).saturatingSum(size.area * plan.options.pixelFormat.bytesPerPixel)
    }

    /// Returns the number of bytes that computing the hashes takes: a gray copy of the image.
    func hashBytes(_ size: PixelSize) -> Int { hashes.contains(.phash) ? size.area : 0 }

    func describe(_ pixels: PixelBuffer, _ facts: inout ImageFacts) {
        for hash in hashes { facts.hashes[hash] = hash.json(of: pixels) }
    }

    func encoded(_ pixels: PixelBuffer, profile: [UInt8]?, gainMap: [UInt8]? = nil) throws -> EncodedImage {
        let format = format ?? (pixels.isOpaque ? .jpeg : .png)
        if format == .npy { return EncodedImage(bytes: NPYFile.bytes(of: pixels), format: format) }
        let bytes = try pixels.encoded(
            with: try plan.encoding(format), metadata: ImageMetadata(colorProfile: profile, gainMap: gainMap),
            maximumBytes: plan.maximumBytes ?? .max)
        return EncodedImage(bytes: bytes, format: format)
    }
}
