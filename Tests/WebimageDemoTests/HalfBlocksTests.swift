import Testing

@testable import WebimageDemo

struct HalfBlocksTests {
    @Test func halfBlockShowsTwoPixels() {
        let rgba: [UInt8] = [255, 0, 0, 255, 255, 0, 0, 255, 0, 0, 255, 255, 0, 255, 0, 255]
        #expect(
            HalfBlocks.lines(rgba: rgba, width: 2, height: 2, columns: 2, rows: 1) == [
                "\u{1B}[38;2;255;0;0;48;2;0;0;255m▀\u{1B}[38;2;255;0;0;48;2;0;255;0m▀\u{1B}[0m"
            ])
    }

    @Test func halfBlocksAverageAreasAndShowTransparencyAsBlack() {
        let rgba: [UInt8] = [255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 255, 0, 0, 0, 255]
        #expect(
            HalfBlocks.lines(rgba: rgba, width: 4, height: 1, columns: 2, rows: 1) == [
                "\u{1B}[38;2;127;127;127;48;2;127;127;127m▀\u{1B}[38;2;0;0;0;48;2;0;0;0m▀\u{1B}[0m"
            ])
    }

    @Test func picturesSmallerThanTheCellAreEnlarged() {
        let lines = HalfBlocks.lines(rgba: [1, 2, 3, 255], width: 1, height: 1, columns: 5, rows: 2)
        #expect(lines == Array(repeating: "\u{1B}[38;2;1;2;3;48;2;1;2;3m▀▀▀▀▀\u{1B}[0m", count: 2))
    }

    @Test func halfBlocksOfInvalidSizesAreEmpty() {
        #expect(HalfBlocks.lines(rgba: [1, 2, 3], width: 1, height: 1, columns: 1, rows: 1) == [])
    }
}
