import ImageTestSupport
import QOI
import Testing

@testable import ImageCodecs

struct FileBeginningTests {
    /// The most memory that the array of a file has taken.
    private struct Memory {
        /// The capacity relative to the number of bytes received.
        var share = 0
        /// The number of bytes while the array was copied.
        var temporary = 0
        /// The capacity at the end.
        var end = 0
    }

    /// Collects a file of `length` bytes whose format needs all of it.
    private func memory(of length: Int, declared: Int?, piece: Int = 64 << 10) throws -> Memory {
        let start = TestImage.noise(90, 70, seed: 9, isOpaque: false).qoi()
        var beginning = FileBeginning(formats: FormatTable(adding: [WholeQOIFormat()]))
        beginning.expectedLength = declared
        var memory = Memory()
        while beginning.bytes.count < length {
            let (received, capacity) = (beginning.bytes.count, beginning.bytes.capacity)
            let count = min(piece, length - received)
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: received), count: count)
            _ = try beginning.append(received == 0 ? start.span : bytes.span, limits: DecodeLimits())
            let (sum, newCapacity) = (beginning.bytes.count, beginning.bytes.capacity)
            #expect(sum == received + (received == 0 ? start.count : count))
            if sum > 1 << 20 { memory.share = max(memory.share, newCapacity / sum) }
            if newCapacity != capacity { memory.temporary = max(memory.temporary, received + sum) }
        }
        memory.end = beginning.bytes.capacity
        return memory
    }

    @Test(arguments: [3, 17, 65, 127], [60_000, 64 << 10, 1 << 20])
    func fileOfDeclaredLengthTakesNoMoreMemoryThanItself(mebibytes: Int, piece: Int) throws {
        let length = mebibytes << 20
        let memory = try memory(of: length, declared: length, piece: piece)
        #expect(memory.end <= length + piece)
        #expect(memory.temporary <= max(length, 4 << 20) + piece)
    }

    @Test(arguments: [1 << 20, 400 << 20, Int.max]) func wrongDeclaredLengthTakesLittleMemory(declared: Int) throws {
        let memory = try memory(of: 20 << 20, declared: declared)
        #expect(memory.share <= 16)
        #expect(memory.end <= 16 * 20 << 20)
    }

    @Test func declaredLengthOverTheLimitIsIgnored() throws {
        let memory = try memory(of: 5 << 20, declared: DecodeLimits().maximumBytes + 1)
        #expect(memory.share <= 2)
    }

    @Test func fileOfUnknownLengthGrows() throws {
        #expect(try memory(of: 5 << 20, declared: nil).share <= 2)
    }
}
