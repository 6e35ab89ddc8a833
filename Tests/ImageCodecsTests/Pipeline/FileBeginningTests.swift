import ImageTestSupport
import QOI
import Testing

@testable import ImageCodecs

struct FileBeginningTests {
    private let piece = 64 << 10
    /// The beginning of a file whose format needs all of it.
    private let start = TestImage.noise(90, 70, seed: 9, isOpaque: false).qoi()

    /// Appends a file of `length` bytes, and returns the maximum capacity of the array for a multiple of each number of
    /// received bytes, and the capacity at the end.
    private func capacities(
        of length: Int, declared: Int?
    ) throws -> (maximumShare: Int, temporary: Int, end: Int) {
        var beginning = FileBeginning(formats: FormatTable(adding: [WholeQOIFormat()]))
        beginning.expectedLength = declared
        var (share, temporary) = (0, 0)
        var received = 0
        while received < length {
            let count = min(piece, length - received)
            let before = beginning.bytes.capacity
            let bytes = [UInt8](repeating: 0, count: count)
            _ = try beginning.append(received == 0 ? start.span : bytes.span, limits: DecodeLimits())
            received += received == 0 ? start.count : count
            let capacity = beginning.bytes.capacity
            if received > 1 << 20 { share = max(share, capacity / received) }
            if capacity != before { temporary = max(temporary, min(before, received) + received) }
        }
        return (share, temporary, beginning.bytes.capacity)
    }

    @Test(arguments: [3, 17, 65, 127])
    func fileOfDeclaredLengthTakesNoMoreMemoryThanItself(mebibytes: Int) throws {
        let length = mebibytes << 20
        let (_, temporary, end) = try capacities(of: length, declared: length)
        #expect(end <= length + piece)
        #expect(temporary <= length + piece)
    }

    @Test(arguments: [1 << 20, Int.max]) func wrongDeclaredLengthTakesLittleMemory(declared: Int) throws {
        let (share, _, end) = try capacities(of: 20 << 20, declared: declared)
        #expect(share <= 16)
        #expect(end <= 16 * 20 << 20)
    }

    @Test func fileOfUnknownLengthIsCollected() throws {
        #expect(try capacities(of: 5 << 20, declared: nil).end >= 5 << 20)
    }
}
