import HTTPTransport
import Testing
import Threading

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct BufferPoolTests {
    private let clock = ManualClock()
    let pool: BufferPool

    init() {
        pool = BufferPool(.bodies(), clock: Stopwatch(clock))
    }

    /// The address of the memory of an array.
    func address(of bytes: [UInt8]) -> UInt {
        bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    /// Adds the memory of an array that nothing else uses, and returns its address.
    private func keepReleased(_ count: Int = 200_000) -> UInt {
        let bytes = [UInt8](repeating: 1, count: count)
        pool.keep(bytes)
        return address(of: bytes)
    }

    // MARK: Reuse

    @Test func memoryOfAReleasedArrayIsReused() {
        let released = keepReleased()
        let taken = pool.take(capacity: 190_000)
        #expect(taken.isEmpty && taken.capacity >= 190_000)
        #expect(address(of: taken) == released)
        #expect(pool.byteCount == 0)
    }

    @Test func arrayThatACallerStillUsesIsNotReused() {
        let used = [UInt8](repeating: 1, count: 200_000)
        pool.keep(used)
        var taken = pool.take(capacity: 200_000)
        #expect(taken.isEmpty && taken.capacity >= 200_000)
        #expect(address(of: taken) != address(of: used))
        taken += [UInt8](repeating: 2, count: 200_000)
        #expect(used == [UInt8](repeating: 1, count: 200_000))
    }

    @Test(arguments: [100_000, 150_000, 210_000, 300_000]) func keptBufferIsReusedOnlyForItsSize(capacity: Int) {
        let buffers = [[UInt8](repeating: 1, count: 200_000), [UInt8](repeating: 2, count: 200_000)]
        let addresses = buffers.map { address(of: $0) }
        for buffer in buffers { pool.keep(buffer) }
        #expect(!addresses.contains(address(of: pool.take(capacity: capacity))))
    }

    @Test func memoryForAnotherSizeReplacesTheOldest() {
        let oldest = keepReleased()
        let newer = (0..<3).map { _ in keepReleased() }
        // A buffer of 300,000 bytes replaces the two oldest of 200,000 bytes.
        _ = pool.take(capacity: 300_000)
        #expect((400_000..<600_000).contains(pool.byteCount))
        #expect(address(of: pool.take(capacity: 200_000)) == newer[1])
        #expect(address(of: pool.take(capacity: 200_000)) == newer[2])
        #expect(pool.byteCount == 0 && oldest != newer[1])
    }

    @Test func smallAndHugeArraysAreNotKept() {
        pool.keep([UInt8](repeating: 1, count: 10_000))
        pool.keep([UInt8](repeating: 1, count: 9 << 20))
        #expect(pool.byteCount == 0)
        #expect(pool.take(capacity: 10_000).capacity >= 10_000)
        #expect(pool.take(capacity: 9 << 20).capacity >= 9 << 20)
    }

    @Test func arrayOfTheMaximumCapacityIsKept() {
        pool.keep(pool.take(capacity: 8 << 20))
        #expect(pool.byteCount >= 8 << 20)
        #expect(pool.take(capacity: 8 << 20).capacity >= 8 << 20)
        #expect(pool.byteCount == 0)
    }

    @Test func concurrentReadersSeeTheirOwnBodies() async {
        let pool = BufferPool(.bodies(byteCount: 1 << 20))
        let areIntact = await withTaskGroup { group in
            for writer in 0..<8 as Range<UInt8> {
                group.addTask {
                    var areIntact = true
                    for round in 0..<30 as Range<UInt8> {
                        var body = pool.take(capacity: 70_000)
                        body += [UInt8](repeating: writer &* 31 &+ round, count: 70_000)
                        pool.keep(body)
                        // Others can take it from now on.
                        await Task.yield()
                        let ends = [body[0], body[35_000], body[69_999]]
                        areIntact = areIntact && ends.allSatisfy { $0 == writer &* 31 &+ round }
                    }
                    return areIntact
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(areIntact)
    }

    // MARK: Bounds

    @Test func poolKeepsNoMoreThanItsLimit() {
        let pool = BufferPool(.bodies(byteCount: 1 << 20))
        for _ in 0..<20 { pool.keep([UInt8](repeating: 1, count: 200_000)) }
        #expect((800_000...1 << 20).contains(pool.byteCount))
    }

    @Test func poolWithoutLimitKeepsNothing() {
        let pool = BufferPool(.none)
        pool.keep([UInt8](repeating: 1, count: 200_000))
        #expect(pool.byteCount == 0)
    }

    @Test(arguments: [-1, 0, 1 << 20]) func poolForPixelsOfASmallMemoryBudgetKeepsNothing(memoryBudget: Int) {
        var kept = KeptBuffers(.pixels(memoryBudget: memoryBudget))
        #expect(kept.insert([UInt8](repeating: 1, count: 1 << 20)).count == 1)
        #expect(kept.byteCount == 0)
        let pool = BufferPool(.pixels(memoryBudget: memoryBudget))
        pool.keep([UInt8](repeating: 1, count: 1 << 20))
        #expect(pool.byteCount == 0 && pool.take(capacity: 1 << 20).isEmpty)
    }

    @Test func unusedMemoryIsReleased() async {
        _ = keepReleased()
        await passIdleTime()
        while pool.byteCount > 0, !Task.isCancelled { await Task.yield() }
        #expect(pool.byteCount == 0)
    }

    @Test func bufferPoolInUseKeepsItsMemory() async {
        _ = keepReleased()
        for _ in 0..<3 {
            // The next alarm is set after the decision to keep the memory.
            _ = await clock.nextSleep()
            pool.keep(pool.take(capacity: 200_000))
            clock.advance(by: BufferPool.idleTime)
        }
        _ = await clock.nextSleep()
        #expect(pool.byteCount >= 200_000)
    }

    private func passIdleTime() async {
        _ = await clock.nextSleep()
        clock.advance(by: BufferPool.idleTime)
    }

    @Test func memoryPressureReleasesEverything() {
        _ = keepReleased()
        let pixels = BufferPool(.pixels(memoryBudget: 64 << 20), clock: Stopwatch(clock))
        pixels.keep([UInt8](repeating: 1, count: 2_000_000))
        #expect(pool.byteCount > 0 && pixels.byteCount > 0)
        ImageLoader.releaseMemory(of: MemoryCache(maximumBytes: 0), pool, pixels)
        #expect(pool.byteCount == 0 && pixels.byteCount == 0)
    }

    @Test func closedBufferPoolKeepsNoMemory() {
        _ = keepReleased()
        pool.close()
        #expect(pool.byteCount == 0)
        _ = keepReleased()
        #expect(pool.byteCount == 0)
        pool.removeAll()
        _ = keepReleased()
        #expect(pool.byteCount == 0)
    }

    @Test func releasedPoolCancelsItsAlarm() async {
        weak let released: BufferPool?
        do {
            let pool = BufferPool(.bodies(), clock: Stopwatch(clock))
            pool.keep([UInt8](repeating: 1, count: 200_000))
            released = pool
        }
        #expect(released == nil)
    }
}
