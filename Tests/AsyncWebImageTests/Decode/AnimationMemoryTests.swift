import Testing

@testable import AsyncWebImage

struct AnimationMemoryTests {
    private let mebibyte = 1 << 20

    @Test func smallOutputsAreTriedFirst() {
        let memory = AnimationMemory(frame: 5 * mebibyte, file: 100_000, limit: 100 * mebibyte)
        #expect(memory.base == 5 * mebibyte + 100_000)
        #expect(memory.outputLimits == [mebibyte, 8 * mebibyte, (95 * mebibyte - 100_000) / 2])
        #expect(memory.bytes(forOutput: mebibyte) == memory.base + 2 * mebibyte)
    }

    @Test func firstLimitDependsOnTheOriginal() {
        let memory = AnimationMemory(frame: mebibyte, file: 3 * mebibyte, limit: 100 * mebibyte)
        #expect(memory.outputLimits == [12 * mebibyte, 48 * mebibyte])
    }

    @Test func allMemoryIsTriedAtOnceIfThereIsLittle() {
        let memory = AnimationMemory(frame: 5 * mebibyte, file: mebibyte, limit: 14 * mebibyte)
        #expect(memory.outputLimits == [4 * mebibyte])
        let none = AnimationMemory(frame: 5 * mebibyte, file: mebibyte, limit: mebibyte)
        #expect(none.outputLimits == [0])
    }

    @Test func allMemoryIsTriedAtOnceIfTheSizeIsToldAtTheEnd() {
        let memory = AnimationMemory(frame: mebibyte, file: mebibyte, limit: 100 * mebibyte, tellsSize: false)
        #expect(memory.outputLimits == [49 * mebibyte])
    }

    @Test(arguments: [0, 1 << 20, 300 << 20]) func noMoreThanTheLimitIsReserved(file: Int) {
        let limit = 1 << 30
        let memory = AnimationMemory(frame: 40_000_000, file: file, limit: limit)
        for output in memory.outputLimits { #expect(memory.bytes(forOutput: output) <= limit) }
    }
}
