import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite
struct RowWindowTests {
    @Test
    func discardedRowsReturnTheirMemory() {
        let stride = 10_000
        guard var window = RowWindow(stride: stride, count: 1_000) else {
            Issue.record("no address space")
            return
        }
        let byteCount = window.byteCount
        #expect(byteCount == 10_000_000)
        let rows = unsafe window.rows
        unsafe rows.update(repeating: 7, count: byteCount)
        window.discard(before: 500)
        // Whole units only; their memory would be new, and therefore zero.
        let discarded = 500 * stride / RowWindow.granularity * RowWindow.granularity
        #expect(discarded > 0)
        #expect(unsafe rows[0] == 0 && rows[discarded - 1] == 0)
        #expect(unsafe rows[discarded] == 7 && rows[byteCount - 1] == 7)
        window.discard(before: 400)
        window.discard(before: -1)
        #expect(unsafe rows[discarded] == 7)
        window.discard(before: .max)
        #expect(unsafe rows[byteCount - 1] == 7)
        // Keeps the window alive.
        window.discard(before: 0)
    }

    @Test
    func sizesThatOverflowHaveNoWindow() {
        let sizes: [(Int, Int)] = [(.max, 2), (2, .max), (.max, 1), (0, 1), (1, 0), (-1, 1), (1, -1)]
        for (stride, count) in sizes {
            if let window = RowWindow(stride: stride, count: count) { Issue.record("\(window.byteCount) bytes") }
        }
    }

    /// Files whose rows take more than 8 MiB; a second thread decodes the one with 4.2 megapixels.
    enum Kind: CaseIterable {
        case lossy, lossyWithAlpha, lossless, losslessWithAlpha

        var size: (width: Int, height: Int) { self == .lossy ? (600, 7_001) : (301, 7_100) }
        var hasAlpha: Bool { self == .lossyWithAlpha || self == .losslessWithAlpha }

        func file() throws -> [UInt8] {
            let isLossless = self == .lossless || self == .losslessWithAlpha
            return try TestImages.photo(width: size.width, height: size.height, hasAlpha: hasAlpha)
                .encoded(with: .webp(WebPOptions(quality: 70, isLossless: isLossless, effort: 0)))
        }
    }

    @Test(.enabled(if: ReferenceDecoder.has("dwebp"), "dwebp is not installed"), arguments: Kind.allCases)
    func everyRowOfALargeImageIsDecoded(kind: Kind) throws {
        let file = try kind.file()
        let whole = try decodeRows(file)
        #expect(whole.size.area * 4 > 8 << 20)
        #expect(try whole.bytes == ReferenceDecoder.decodeWebP(file))
        #expect(try decodeRows(file, step: 20_011) == whole)
    }

    @Test
    func largeScaledImageDoesNotDependOnThePieces() throws {
        let file = try TestImages.photo(width: 2_000, height: 4_800)
            .encoded(with: .webp(WebPOptions(quality: 70, effort: 0)))
        let target = PixelSize(width: 500, height: 1_200)
        let whole = try decodeRows(file, target: target)
        #expect(whole.size == PixelSize(width: 1_000, height: 2_400))
        #expect(try decodeRows(file, target: target, step: 50_021) == whole)
    }

    @Test
    func rowsAreReleasedBetweenTheParts() throws {
        let file = try Kind.lossy.file()
        let size = PixelSize(width: Kind.lossy.size.width, height: Kind.lossy.size.height)
        let decoder = try WebPImageDecoder(storedSize: size, size: size, tableLimit: 0)
        let chunks = Array(file.dropFirst(12))
        decoder.reserve(chunks.count)
        decoder.append(chunks.span)
        var rows = 0
        var most = 0
        var hasMore = true
        while hasMore {
            hasMore = try decoder.decode(isLast: true)
            most = max(most, decoder.rowCount - rows)
            rows = decoder.rowCount
            decoder.releaseRows(before: rows)
            // A released row cannot be read.
            decoder.withRow(rows - 1) { _ in Issue.record("row \(rows - 1) has been released") }
        }
        #expect(rows == size.height && decoder.isComplete)
        #expect(most < rows * 3 / 4)
    }

    @Test
    func damagedLargeImageKeepsTheRowsBeforeTheDamage() throws {
        var file = try Kind.lossy.file()
        file.removeLast(file.count / 3)
        let options = DecodeOptions(allowsPartial: true)
        let whole = try decode(file, options: options).pixels
        #expect(try decode(file, options: options) { 9_001 }.pixels == whole)
        let complete = try decode(Kind.lossy.file()).pixels
        #expect(whole.bytes.prefix(600 * 4 * 3_000) == complete.bytes.prefix(600 * 4 * 3_000))
    }

    @Test
    func memoryOfALossyImageIsThatOfItsRows() throws {
        var header = ImageHeader(format: .webp, size: PixelSize(width: 12_000, height: 8_000))
        let rowSize = WebPRowDecoder.rowSize(of: header, for: PixelSize(width: 1_000, height: 667))
        #expect(WebPRowDecoder.workingBytes(of: header, rowSize: rowSize) < 15 << 20)
        // For a lossless image, libwebp holds all pixels.
        header.tableBytes = 2 << 20
        #expect(WebPRowDecoder.workingBytes(of: header, rowSize: rowSize) > header.size.area * 4)
    }
}
