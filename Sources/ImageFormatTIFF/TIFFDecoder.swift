#if TIFF
import CTIFF
import ImageCodecs

/// Owns a handle of libtiff for the first page of a file.
@safe
final class TIFFDecoder {
    /// The maximum size of an allocation while tags are read, in bytes; more are needed only for strips and tiles.
    private static let maximumTagBytes = 64 << 20

    private let bytes: UnsafeBufferPointer<UInt8>
    /// The file as libtiff's functions see it, which stays in its place.
    private let file: UnsafeMutablePointer<ctiff_file>
    let tiff: OpaquePointer
    let layout: TIFFLayout
    /// The memory for copies of tags, in bytes.
    private let tagBytes: Int

    /// Opens `file`, which must exist for as long as the decoder.
    private init(
        _ bytes: UnsafeBufferPointer<UInt8>, tagBytes: Int, maximumAllocation: Int = maximumTagBytes
    ) throws(CodecError) {
        unsafe self.bytes = bytes
        self.tagBytes = tagBytes
        let file = UnsafeMutablePointer<ctiff_file>.allocate(capacity: 1)
        unsafe file.initialize(to: ctiff_file())
        unsafe file.pointee.bytes = bytes.baseAddress
        unsafe file.pointee.count = UInt64(bytes.count)
        unsafe self.file = file
        guard let tiff = unsafe ctiff_open(file, Int64(maximumAllocation)) else {
            let message = unsafe String(cString: ctiff_message(file))
            unsafe file.deallocate()
            throw .corrupt(.tiff, message.isEmpty ? "it cannot be opened" : message)
        }
        unsafe self.tiff = tiff
        do throws(CodecError) {
            layout = try unsafe TIFFLayout(tiff)
        } catch {
            unsafe TIFFClose(tiff)
            unsafe file.deallocate()
            throw error
        }
        // Without effect for other files.
        if unsafe ctiff_get_16(tiff, UInt32(TIFFTAG_COMPRESSION), 1) == COMPRESSION_JPEG, !layout.isConverted {
            _ = unsafe ctiff_convert_to_rgb(tiff)
        }
        unsafe ctiff_forget_reports(file, tiff)
    }

    deinit {
        unsafe TIFFClose(tiff)
        unsafe file.deallocate()
    }

    /// Calls `body` with a decoder of `file`.
    static func withDecoder<Result>(
        of file: Span<UInt8>, _ body: (TIFFDecoder) throws(CodecError) -> Result
    ) throws(CodecError) -> Result {
        // libtiff would copy shared data for each tag.
        let tagBytes = TIFFPages.tagBytes(in: file)
        guard tagBytes <= file.count else { throw .corrupt(.tiff, "its tags overlap") }
        return try unsafe file.withUnsafeBufferPointer { (bytes) throws(CodecError) -> Result in
            try body(unsafe TIFFDecoder(bytes, tagBytes: tagBytes))
        }
    }

    /// Returns another decoder of the same file, whose position is its own, with memory for strips and tiles.
    func another() throws(CodecError) -> TIFFDecoder {
        let limit = max(Self.maximumTagBytes, layout.workingBytes(fileBytes: unsafe bytes.count))
        return try unsafe TIFFDecoder(bytes, tagBytes: tagBytes, maximumAllocation: limit)
    }

    /// Throws an error if decoding would take too long or too much memory.
    func checkLayout() throws(CodecError) { try layout.check(fileBytes: unsafe bytes.count) }

    var header: ImageHeader {
        var header = ImageHeader(format: .tiff, size: layout.size)
        header.orientation = layout.orientation
        header.hasAlpha = layout.alpha != .none
        header.bitsPerChannel = layout.readBits
        header.colorChannels = if case .gray = layout.colors { 1 } else { layout.isCMYK ? 4 : 3 }
        // The first decoder, and one for each plane, have copies of the tags.
        header.memoryUsage =
            layout.workingBytes(fileBytes: unsafe bytes.count) + tagBytes * (2 + layout.planeCount)
        return header
    }

    /// The profile of the decoded rows; empty for one of ink, and `nil` if they are in sRGB.
    var colorProfile: [UInt8]? {
        guard let profile = storedProfile else {
            // Floating-point numbers are linear light, as in Photoshop, and as libvips reads them.
            return layout.isFloatingPoint && !layout.isCMYK ? CodedColors.profile(primaries: 1, transfer: 8) : nil
        }
        return layout.isCMYK ? [] : profile.span.has("Lab ", at: 16) ? nil : profile
    }

    private var storedProfile: [UInt8]? {
        var count: UInt32 = 0
        guard let start = unsafe ctiff_get_profile(tiff, &count), count > 0 else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// The red, green, and blue of each color of the map, with 8 bits.
    var palette: [UInt8] {
        let count = 1 << layout.bits
        var columns: [[UInt16]] = []
        for column in 0..<3 as Range<Int32> {
            guard let start = unsafe ctiff_get_color_map(tiff, column) else { return [] }
            columns.append(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
        }
        // As in libtiff: some files have 8 bits by mistake.
        let has16Bits = columns.contains { $0.contains { $0 >= 256 } }
        return (0..<count * 3).map { index in
            let value = Int(columns[index % 3][index / 3])
            return UInt8(has16Bits ? value >> 8 : value)
        }
    }

    /// The number of bytes of a row of one plane, or of all samples if they are together.
    var rowBytes: Int { Int(unsafe TIFFScanlineSize(tiff)) }
    /// The number of bytes of a row of a tile.
    var tileRowBytes: Int { Int(unsafe TIFFTileRowSize(tiff)) }

    /// Decodes row `y` of a plane into `buffer`, of ``rowBytes``.
    func readRow(_ y: Int, plane: Int, into buffer: inout [UInt8]) throws(CodecError) {
        if y % layout.pieceHeight == 0 { try checkJPEG(inRow: y, column: 0, plane: plane) }
        let result = unsafe buffer.withUnsafeMutableBytes { target in
            unsafe TIFFReadScanline(tiff, target.baseAddress, UInt32(clamping: y), UInt16(clamping: plane))
        }
        guard result == 1, !hasReport else { throw failure(inRow: y, column: 0, plane: plane) }
    }

    /// Decodes the tile that contains a pixel into `buffer`.
    func readTile(row: Int, column: Int, plane: Int, into buffer: inout [UInt8]) throws(CodecError) {
        let needed = unsafe TIFFTileSize(tiff)
        guard needed > 0, needed <= buffer.count else { throw .corrupt(.tiff, "tiles of \(needed) bytes") }
        try checkJPEG(inRow: row, column: column, plane: plane)
        let result = unsafe buffer.withUnsafeMutableBytes { target in
            unsafe TIFFReadTile(
                tiff, target.baseAddress, UInt32(clamping: column), UInt32(clamping: row), 0, UInt16(clamping: plane))
        }
        guard result >= 0, !hasReport else { throw failure(inRow: row, column: column, plane: plane) }
    }

    /// Throws an error if libjpeg would need too much memory for the strip or tile with a pixel.
    func checkJPEG(inRow y: Int, column: Int, plane: Int) throws(CodecError) {
        guard layout.isJPEG else { return }
        guard let range = range(inRow: y, column: column, plane: plane) else { throw .truncated(.tiff) }
        let size = layout.tile ?? PixelSize(width: layout.size.width, height: layout.pieceHeight)
        try TIFFJPEG.check(unsafe bytes.span.extracting(range), within: size)
    }

    /// A Boolean value that indicates whether libtiff has reported missing or damaged data, in place of which it may
    /// have made up pixels.
    var hasReport: Bool { unsafe file.pointee.truncated > 0 || file.pointee.message.0 != 0 }

    /// Returns the reason why the strip or tile with a pixel has not been decoded.
    func failure(inRow y: Int, column: Int, plane: Int) -> CodecError {
        let isMissing = unsafe file.pointee.truncated > 0
        guard !isMissing, range(inRow: y, column: column, plane: plane) != nil else { return .truncated(.tiff) }
        let message = unsafe String(cString: ctiff_message(file))
        return .corrupt(.tiff, message.isEmpty ? "a strip or tile cannot be decoded" : message)
    }

    /// Returns the place of the strip or tile with a pixel; `nil` if the file ends before the end of it.
    private func range(inRow y: Int, column: Int, plane: Int) -> Range<Int>? {
        let index =
            layout.tile == nil
            ? unsafe TIFFComputeStrip(tiff, UInt32(clamping: y), UInt16(clamping: plane))
            : unsafe TIFFComputeTile(tiff, UInt32(clamping: column), UInt32(clamping: y), 0, UInt16(clamping: plane))
        let start = unsafe TIFFGetStrileOffset(tiff, index)
        let (end, overflow) = start.addingReportingOverflow(unsafe TIFFGetStrileByteCount(tiff, index))
        return overflow || end > UInt64(unsafe bytes.count) ? nil : Int(start)..<Int(end)
    }
}
#endif
