import AsyncWebImage
import ImageCodecs

/// Makes the output for one image according to a plan: its file as downloaded, or a converted one.
final class OutputMaker: FileRule {
    /// The output for an image.
    enum Output {
        /// The file as downloaded, which has been checked.
        case unchanged(UnfinishedFile, ImageFormat)
        case converted(MadeFile)
    }

    /// The error for an image that cannot be kept as downloaded.
    private struct NeedsConversion: Error {}

    private let decoder: ImageDecoder
    private let memory: MemoryLimits
    private let output: OutputPlan
    /// The folder for files as downloaded, and for temporary ones.
    private let folder: OutputFolder
    /// The hashes to compute of the pixels of a converted image; of an animation, those of its first frame.
    private let hashes: [PixelHash]
    /// Throws an error if an image with this header must not be written.
    private let admission: (ImageHeader) throws -> Void
    /// The facts about the image that are known so far.
    private(set) var facts = ImageFacts()

    init(
        _ output: OutputPlan, by decoder: ImageDecoder, _ memory: MemoryLimits, in folder: OutputFolder,
        hashes: [PixelHash] = [], admission: @escaping (ImageHeader) throws -> Void = { _ in }
    ) {
        self.output = output
        self.decoder = decoder
        self.memory = memory
        self.folder = folder
        self.hashes = hashes
        self.admission = admission
    }

    /// Returns the output for the image in `pieces`, which are read to their end, or as far as the image needs them.
    ///
    /// `named` is called with the file and its format when that is known, before most of the file is written. Throws
    /// ``CodecError``, ``MemoryShortage``, and the errors of `pieces`. Starts over whenever `pieces` does.
    func output(
        of pieces: any ImagePieces, named: (UnfinishedFile, ImageFormat) -> Void = { _, _ in }
    ) async throws -> Output {
        facts = ImageFacts()
        let file = output.mayKeep ? folder.makeFile() : nil
        let stored = StoredPieces(pieces, in: file, memory, folder, allowsPartial: output.options.allowsPartial)
        guard let file else { return .converted(try await converted(stored)) }
        do {
            return .unchanged(file, try await checked(stored) { named(file, $0) })
        } catch {
            guard leadsToConversion(error) else { throw error }
            return .converted(try await converted(stored))
        }
    }

    private func leadsToConversion(_ error: any Error) -> Bool {
        switch error {
        case is NeedsConversion, is ImageCheck.Damaged: true
        case is MemoryShortage: output.isConverted
        case ImageError.transport: output.options.allowsPartial && output.mode != .untouched
        default: false
        }
    }

    /// Returns the format of an image that is written as downloaded.
    private func checked(_ pieces: StoredPieces, named: (ImageFormat) -> Void) async throws -> ImageFormat {
        let check = ImageCheck(
            decoder: decoder, memory: memory, extent: output.mode == .untouched ? .header : .everything,
            keepsDamaged: output.options.allowsPartial || output.isConverted)
        func admit(_ header: ImageHeader) throws {
            facts.describe(header)
            try admission(header)
            guard output.keeps(header) else { throw NeedsConversion() }
        }
        let header = try await check.run(pieces, named: named, admission: admit)
        // Again for a header that is behind much metadata.
        try admit(header)
        if check.extent == .everything { facts.warnings = header.warnings }
        try output.check(header.warnings)
        return header.format
    }

    private func converted(_ pieces: StoredPieces) async throws -> MadeFile {
        facts = ImageFacts()
        try pieces.rewind()
        do {
            let file = try await decoder.file(of: pieces, output.options, by: self)
            facts.isPartial = file.isPartial
            facts.warnings = file.header.warnings
            facts.keepsGainMap = file.hasGainMap
            try output.check(file.header.warnings)
            return file
        } catch let error as OutputTooLarge {
            throw MemoryShortage(needed: nil, limit: error.memoryLimit, purpose: "convert")
        }
    }

    var metadata: OutputRule.Metadata { output.keepsGainMap ? .gainMap : [] }

    func plan(for header: ImageHeader) throws -> FilePlan {
        facts.describe(header)
        facts.keepsGainMap = false
        try admission(header)
        var plan = try output.plan(for: header)
        // A gray copy of the image.
        if hashes.contains(.phash) { plan.inspectionBytesPerPixel = 1 }
        return plan
    }

    func inspect(_ image: DecodedImage) throws {
        facts.describe(image)
        try output.check(image.header.warnings)
        for hash in hashes { facts.hashes[hash] = hash.json(of: image.pixels) }
    }
}
