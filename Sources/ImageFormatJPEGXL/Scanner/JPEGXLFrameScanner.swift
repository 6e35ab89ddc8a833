#if JPEGXL
import ImageCodecs

/// Follows the structure of a file, so that libjxl receives no frame whose size has not been checked.
///
/// libjxl reports only the frames that are shown, and those that are combined with them; but it also decodes those that
/// others merely refer to. The scanner takes the bytes first, and returns those of the codestream that libjxl may have.
/// It decodes no pixels. Its memory is bounded: it holds the bytes of one header.
struct JPEGXLFrameScanner {
    /// The number of shown frames of a file, before the limits on frames are checked.
    private static let maximumFrames = 10_000
    /// The maximum size of a header, in bytes.
    private static let maximumHeader = 1 << 20
    /// The number of bytes of which headers are read again whenever one more arrives.
    private static let shortHeader = 4 << 10
    /// The number of bytes of which a header is looked for at a time.
    private static let piece = 256

    /// The structure that is read next.
    private enum Part {
        case image, profile, preview, frame, order, sizes, sections, end
    }

    /// How far a file is read.
    enum Extent {
        /// Up to the color profile.
        case header
        /// Up to the header of the first frame.
        case frameHeader
        case firstFrame
        case allFrames
    }

    private let extent: Extent
    /// The memory that has been granted for decoding, in bytes.
    private let memory: Int
    private var boxes = JPEGXLBoxes()
    private var reader = JPEGXLBitReader()
    private var part = Part.image
    /// The coded numbers of the current part.
    private var numbers: (any JPEGXLNumbers)?
    private var budget: JPEGXLFrameBudget?
    /// A Boolean value that indicates whether nothing needs to be read after the current frame.
    private var endsAfterFrame = false
    /// The number of bytes with which the current part is read again.
    private var needed = 1
    /// The number of sizes of sections that have not been read, and the bytes of those that have, which follow.
    private var remainingSizes = 0
    private var sectionBytes = 0

    /// The declarations of the file about its frames; `nil` until they have arrived.
    private(set) var image: JPEGXLImageFields?
    /// A Boolean value that indicates whether everything in front of the frames has arrived.
    private(set) var hasHeader = false
    /// The first frame, which need not be shown; `nil` until its header has arrived.
    private(set) var firstFrame: JPEGXLFrameFields?
    /// A Boolean value that indicates whether the header of the last frame has arrived.
    private(set) var hasLastFrame = false
    /// The times for which frames are shown, in ticks.
    private(set) var durations: [Int] = []

    /// Creates a scanner for a decode that has been granted `memory` bytes.
    init(_ extent: Extent, memory: Int = 0) {
        self.extent = extent
        self.memory = memory
    }

    /// Takes the next bytes of the file, and returns those of the codestream that may be decoded.
    ///
    /// Throws an error if a frame exceeds a limit.
    mutating func admit(_ file: Span<UInt8>) throws(CodecError) -> [UInt8] {
        var admitted: [UInt8] = []
        var start = 0
        while part != .end, let range = try boxes.next(in: file, from: &start) {
            try scan(file.extracting(range), &admitted)
        }
        return admitted
    }

    /// Returns the last bytes that may be decoded, after those of the whole file.
    mutating func admitRest() throws(CodecError) -> [UInt8] {
        needed = 0
        var admitted: [UInt8] = []
        try scan([UInt8]().span, &admitted)
        return admitted
    }

    private mutating func scan(_ codestream: Span<UInt8>, _ admitted: inout [UInt8]) throws(CodecError) {
        var rest = codestream
        while part != .end {
            if part == .sections {
                rest = rest.extracting(droppingFirst: passSections(of: rest, &admitted))
                guard sectionBytes == 0 else { return }
                part = endsAfterFrame ? .end : .frame
                continue
            }
            if reader.bytes.count < needed {
                guard !rest.isEmpty else { return }
                let count = min(rest.count, max(needed - reader.bytes.count, Self.piece))
                reader.append(rest.extracting(first: count))
                rest = rest.extracting(droppingFirst: count)
                continue
            }
            do throws(JPEGXLInterruption) {
                try readPart()
                needed = 1
                reader.removeRead(appendingTo: &admitted)
            } catch {
                if case .failure(let failure) = error { throw failure }
                reader.removeRead(appendingTo: &admitted)
                let count = reader.bytes.count
                guard count <= Self.maximumHeader else {
                    throw .unsupportedFeature(.jpegXL, "a header of more than \(Self.maximumHeader) bytes")
                }
                needed = count + (count < Self.shortHeader ? 1 : count / 8)
            }
        }
    }

    /// Passes the bytes of the sections of a frame, of which the reader can hold the first, and returns the number of
    /// those of `codestream`.
    private mutating func passSections(of codestream: Span<UInt8>, _ admitted: inout [UInt8]) -> Int {
        sectionBytes -= reader.remove(sectionBytes, appendingTo: &admitted)
        let count = min(sectionBytes, codestream.count)
        admitted.append(codestream.extracting(first: count))
        sectionBytes -= count
        return count
    }

    /// Reads the current part; if it is not complete, it is read again or, if it is long, continued later.
    private mutating func readPart() throws(JPEGXLInterruption) {
        switch part {
        case .image: try readImage()
        case .profile:
            if numbers == nil {
                var trial = reader
                numbers = try JPEGXLProfileNumbers(&trial)
                reader = trial
            }
            try numbers?.read(from: &reader)
            numbers = nil
            endHeader()
        case .preview, .frame: try readFrame()
        case .order:
            try numbers?.read(from: &reader)
            numbers = nil
            beginSizes()
        case .sizes: try readSizes()
        case .sections, .end: break
        }
    }

    private mutating func readImage() throws(JPEGXLInterruption) {
        var trial = reader
        let image = try JPEGXLImageFields(&trial)
        reader = trial
        self.image = image
        budget = JPEGXLFrameBudget(image, memory: memory)
        if image.hasProfile { part = .profile } else { endHeader() }
    }

    private mutating func endHeader() {
        reader.skipToByte()
        hasHeader = true
        part = extent == .header ? .end : image?.previewSize == nil ? .frame : .preview
    }

    private mutating func readFrame() throws(JPEGXLInterruption) {
        guard let image else { return }
        if Task.isCancelled { throw .failure(.cancelled(.jpegXL)) }
        let previewSize = part == .preview ? image.previewSize : nil
        var trial = reader
        let frame = try JPEGXLFrameFields(&trial, image, canvas: previewSize ?? image.size)
        let hasOrder = try trial.readFlag()
        if hasOrder { numbers = try JPEGXLSectionOrder(of: frame.sectionCount, &trial) }
        do throws(CodecError) { try budget?.add(frame) } catch { throw .failure(error) }
        reader = trial
        remainingSizes = frame.sectionCount
        endsAfterFrame = false
        if previewSize == nil {
            firstFrame = firstFrame ?? frame
            hasLastFrame = frame.isLast
            endsAfterFrame = frame.isLast || (extent == .firstFrame && frame.isShown)
            if frame.isShown { durations.append(frame.duration) }
            guard durations.count <= Self.maximumFrames else {
                throw .failure(.unsupportedFeature(.jpegXL, "that many frames"))
            }
        }
        if extent == .frameHeader, firstFrame != nil {
            part = .end
        } else if hasOrder {
            part = .order
        } else {
            beginSizes()
        }
    }

    private mutating func beginSizes() {
        reader.skipToByte()
        sectionBytes = 0
        part = .sizes
    }

    private mutating func readSizes() throws(JPEGXLInterruption) {
        while remainingSizes > 0 {
            var trial = reader
            sectionBytes += try trial.read(
                .init(0, bits: 10), .init(1_024, bits: 14), .init(17_408, bits: 22), .init(4_211_712, bits: 30))
            reader = trial
            remainingSizes -= 1
        }
        reader.skipToByte()
        part = .sections
    }
}
#endif
