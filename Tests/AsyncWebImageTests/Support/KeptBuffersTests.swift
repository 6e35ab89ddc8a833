import Testing

@testable import AsyncWebImage

struct KeptBuffersTests {
    private func buffer(_ capacity: Int, _ content: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(capacity)
        bytes.append(content)
        return bytes
    }

    @Test func oldestSuitableArrayIsTakenFirst() {
        var kept = KeptBuffers(.bodies(byteCount: 1 << 20))
        for content in 1...3 as ClosedRange<UInt8> { _ = kept.insert(buffer(100_000, content)) }
        #expect((1...3).map { _ in kept.remove(capacity: 100_000) ?? [] } == [[1], [2], [3]])
        #expect(kept.remove(capacity: 100_000) == nil && kept.byteCount == 0)
    }

    @Test func arrayIsSuitableIfItIsAtMostAQuarterTooLarge() {
        let bytes = buffer(100_000, 1)
        var kept = KeptBuffers(.bodies(byteCount: 1 << 20))
        _ = kept.insert(bytes)
        #expect(kept.remove(capacity: bytes.capacity + 1) == nil)
        #expect(kept.remove(capacity: bytes.capacity * 3 / 4) == nil)
        #expect(kept.remove(capacity: bytes.capacity * 4 / 5 + 1) == [1])
    }

    @Test func arrayForPixelsIsSuitableIfItIsAtMostASixteenthTooLarge() {
        let bytes = buffer(2_000_000, 1)
        var kept = KeptBuffers(.pixels(memoryBudget: 64 << 20))
        _ = kept.insert(bytes)
        #expect(kept.remove(capacity: bytes.capacity * 15 / 16) == nil)
        #expect(kept.remove(capacity: bytes.capacity * 16 / 17 + 1) == [1])
    }

    @Test func oldestArraysAreRemovedAtTheLimit() {
        // The capacity of an array can exceed the reserved one, by different amounts.
        let buffers = (1...3).map { buffer(100_000, $0) }
        let size = buffers.map(\.capacity).reduce(0, max)
        var kept = KeptBuffers(.bodies(byteCount: 2 * size))
        #expect(kept.insert(buffers[0]).isEmpty)
        #expect(kept.insert(buffers[1]).isEmpty)
        #expect(kept.insert(buffers[2]) == [[1]])
        #expect(kept.byteCount == buffers[1].capacity + buffers[2].capacity)
        #expect(kept.insert(buffer(3 * size, 4)) == [[2], [3], [4]])
        #expect(kept.byteCount == 0)
    }
}
