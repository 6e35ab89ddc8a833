#if TIFF
import CTIFF
import FoundationEssentials
import ImageCodecs
import ImageTestSupport

/// A TIFF file made with libtiff, and the pixels that libtiff itself decodes from a file.
struct TestTIFF {
    var size = PixelSize(width: 45, height: 37)
    var bits = 8
    var channels = 3
    var photometric = PHOTOMETRIC_RGB
    var compression = COMPRESSION_NONE
    var isPlanar = false
    var rowsPerStrip = 8
    var tile: PixelSize?
    /// The kind of the sample after the colors.
    var extraSample: Int32?
    /// `w`, and `8` for BigTIFF, `b` or `l` for the byte order, `B` or `L` for that of bits.
    var mode = "w"
    var pageCount = 1
    /// Further tags with one value.
    var tags: [(tag: Int32, value: UInt32)] = []
    var profile: [UInt8] = []
    /// All pixels as stored, in place of ``sample``.
    var strip: [UInt8]?
    var sample: (_ x: Int, _ y: Int, _ channel: Int) -> Int = { x, y, channel in
        x * 5 + y * 3 + channel * 70 + (x & y & 3) * 9
    }

    struct Failure: Error {}

    enum Layout: CaseIterable {
        case strips, oneStrip, tiles, planes, tilesOfPlanes

        var isPlanar: Bool { self == .planes || self == .tilesOfPlanes }
    }

    mutating func arrange(_ layout: Layout) {
        isPlanar = layout.isPlanar
        if layout == .oneStrip { rowsPerStrip = 1_000 }
        if layout == .tiles { tile = PixelSize(width: 16, height: 32) }
        if layout == .tilesOfPlanes { tile = PixelSize(width: 32, height: 16) }
    }

    /// The value of a sample, within its bits.
    func value(_ x: Int, _ y: Int, _ channel: Int) -> Int { sample(x, y, channel) & (1 << bits - 1) }

    /// Returns a file with pages of the same samples.
    func file() throws -> [UInt8] {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).tif").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let tiff = try TIFFOpen(path, mode).unwrapped()
        for _ in 0..<pageCount {
            try write(to: tiff)
            try check(TIFFWriteDirectory(tiff) == 1)
        }
        TIFFClose(tiff)
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    private func check(_ isSound: Bool) throws { if !isSound { throw Failure() } }

    private func write(to tiff: OpaquePointer) throws {
        func set(_ tag: Int32, _ values: any CVarArg...) throws {
            try check(withVaList(values) { TIFFVSetField(tiff, UInt32(tag), $0) } == 1)
        }
        try set(TIFFTAG_IMAGEWIDTH, UInt32(size.width))
        try set(TIFFTAG_IMAGELENGTH, UInt32(size.height))
        try set(TIFFTAG_BITSPERSAMPLE, UInt32(bits))
        try set(TIFFTAG_SAMPLESPERPIXEL, UInt32(channels))
        try set(TIFFTAG_COMPRESSION, UInt32(compression))
        try set(TIFFTAG_PHOTOMETRIC, UInt32(photometric))
        try set(TIFFTAG_PLANARCONFIG, UInt32(isPlanar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG))
        if let extraSample {
            var kinds = [UInt16(extraSample)]
            try kinds.withUnsafeMutableBufferPointer {
                try set(TIFFTAG_EXTRASAMPLES, UInt32(1), $0.baseAddress.unwrapped())
            }
        }
        if !profile.isEmpty {
            var bytes = profile
            try bytes.withUnsafeMutableBufferPointer {
                try set(TIFFTAG_ICCPROFILE, UInt32($0.count), $0.baseAddress.unwrapped())
            }
        }
        if photometric == PHOTOMETRIC_PALETTE {
            var (red, green, blue) = (column(0), column(9_000), column(18_000))
            try red.withUnsafeMutableBufferPointer { red in
                try green.withUnsafeMutableBufferPointer { green in
                    try blue.withUnsafeMutableBufferPointer { blue in
                        try set(
                            TIFFTAG_COLORMAP, red.baseAddress.unwrapped(), green.baseAddress.unwrapped(),
                            blue.baseAddress.unwrapped())
                    }
                }
            }
        }
        for (tag, value) in tags { try set(tag, value) }
        if let tile {
            try set(TIFFTAG_TILEWIDTH, UInt32(tile.width))
            try set(TIFFTAG_TILELENGTH, UInt32(tile.height))
            try writeTiles(of: tile, to: tiff)
        } else {
            try set(TIFFTAG_ROWSPERSTRIP, UInt32(rowsPerStrip))
            if var strip { return try check(TIFFWriteEncodedStrip(tiff, 0, &strip, Int64(strip.count)) > 0) }
            for plane in 0..<(isPlanar ? channels : 1) {
                for y in 0..<size.height {
                    var row = packed(0..<size.width, y, plane)
                    try check(TIFFWriteScanline(tiff, &row, UInt32(y), UInt16(plane)) == 1)
                }
            }
        }
    }

    /// Returns a column of a color map.
    private func column(_ change: Int) -> [UInt16] { (0..<1 << bits).map { UInt16($0 * 257 ^ change) } }

    private func writeTiles(of tile: PixelSize, to tiff: OpaquePointer) throws {
        for plane in 0..<(isPlanar ? channels : 1) {
            for top in stride(from: 0, to: size.height, by: tile.height) {
                for left in stride(from: 0, to: size.width, by: tile.width) {
                    var bytes = (top..<top + tile.height).flatMap { packed(left..<left + tile.width, $0, plane) }
                    try check(TIFFWriteTile(tiff, &bytes, UInt32(left), UInt32(top), 0, UInt16(plane)) > 0)
                }
            }
        }
    }

    /// Returns the bytes of a part of a row: of a plane, or of all channels.
    private func packed(_ columns: Range<Int>, _ y: Int, _ plane: Int) -> [UInt8] {
        let values = columns.flatMap { x in
            (isPlanar ? plane..<plane + 1 : 0..<channels).map { value(x, y, $0) }
        }
        if bits == 16 { return values.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } }
        var bytes: [UInt8] = []
        var (held, count) = (0, 0)
        for value in values {
            (held, count) = (held << bits | value, count + bits)
            while count >= 8 {
                count -= 8
                bytes.append(UInt8(held >> count & 0xFF))
                held &= 1 << count - 1
            }
        }
        if count > 0 { bytes.append(UInt8(held << (8 - count) & 0xFF)) }
        return bytes
    }

    /// Returns the pixels of a file as libtiff converts them, premultiplied, or an error.
    static func reference(_ file: [UInt8]) throws -> [UInt8] {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).tif").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(file).write(to: URL(filePath: path))
        let tiff = try TIFFOpen(path, "r").unwrapped()
        defer { TIFFClose(tiff) }
        let width = ctiff_get_32(tiff, UInt32(TIFFTAG_IMAGEWIDTH), 0)
        let height = ctiff_get_32(tiff, UInt32(TIFFTAG_IMAGELENGTH), 0)
        var pixels = [UInt32](repeating: 0, count: Int(width * height))
        guard TIFFReadRGBAImageOriented(tiff, width, height, &pixels, ORIENTATION_TOPLEFT, 1) == 1 else {
            throw Failure()
        }
        return pixels.flatMap { pixel in (0..<4).map { UInt8(truncatingIfNeeded: pixel >> ($0 * 8)) } }
    }
}

extension [UInt8] {
    /// Returns the little-endian number of `length` bytes at `place`.
    func number(at place: Int, length: Int) -> Int {
        (0..<length).reduce(0) { $0 | Int(self[place + $1]) << (8 * $1) }
    }

    /// Returns the place of the value of a tag in the first directory of a little-endian file.
    func placeOfTag(_ tag: Int32) -> Int? {
        let directory = number(at: 4, length: 4)
        let entries = stride(from: directory + 2, to: directory + 2 + number(at: directory, length: 2) * 12, by: 12)
        return entries.first { number(at: $0, length: 2) == Int(tag) }.map { $0 + 8 }
    }

    /// Replaces the value of such a tag.
    func replacingTag(_ tag: Int32, by value: UInt32) -> [UInt8] {
        guard let place = placeOfTag(tag) else { return self }
        var file = self
        file[place - 6] = 4  // LONG
        for index in 0..<4 { file[place + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        return file
    }
}
#endif
