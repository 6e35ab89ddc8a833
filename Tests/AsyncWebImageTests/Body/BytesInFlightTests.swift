import Testing
import Threading

@testable import AsyncWebImage

struct BytesInFlightTests {
    @Test func regainedByteCapacityIsReportedOnce() {
        let bytes = BytesInFlight(limit: 100)
        let calls = Locked(0)
        bytes.onCapacity { calls.withLock { $0 += 1 } }
        bytes.add(99)
        #expect(bytes.hasCapacity)
        bytes.add(51)
        #expect(!bytes.hasCapacity)
        bytes.remove(50)
        #expect(!bytes.hasCapacity && calls.withLock { $0 } == 0)
        bytes.remove(50)
        #expect(bytes.hasCapacity && bytes.count == 50 && calls.withLock { $0 } == 1)
    }

    @Test func regainedByteCapacityIsReportedAnyNumberOfTimes() {
        let bytes = BytesInFlight(limit: 100)
        let calls = Locked(0)
        bytes.onCapacity { calls.withLock { $0 += 1 } }
        for _ in 0..<100_000 {
            bytes.add(100)
            bytes.remove(100)
        }
        #expect(calls.withLock { $0 } == 100_000)
    }

    @Test func bytesInFlightLimitCanChange() {
        let bytes = BytesInFlight(limit: 100)
        bytes.add(60)
        bytes.setLimit(50, transfers: 1)
        #expect(!bytes.hasCapacity)
        bytes.setLimit(0, transfers: 1)
        bytes.remove(60)
        #expect(bytes.hasCapacity)
    }

    @Test func largeBodiesAreOverBudgetAtOneAndAHalfTimesTheLimit() {
        let bytes = BytesInFlight(limit: 100, transfers: 5)
        bytes.add(149)
        #expect(!bytes.isOverBudget(for: 149))
        bytes.add(1)
        // The five transfers share fifty bytes.
        #expect(bytes.isOverBudget(for: 10) && !bytes.isOverBudget(for: 9))
        bytes.setLimit(1_000, transfers: 5)
        #expect(!bytes.isOverBudget(for: 150))
    }

    @Test func withoutByteLimitNoBodyIsOverBudget() {
        let bytes = BytesInFlight()
        bytes.add(1 << 60)
        #expect(bytes.hasCapacity && !bytes.isOverBudget(for: 1 << 60))
    }

    @Test func bytesInFlightAreReleasedWithTheBodyLog() throws {
        let bytes = BytesInFlight()
        do {
            let log = BodyLog(maximumReplayBytes: 1 << 20, bytesInFlight: bytes)
            _ = log.append([UInt8](repeating: 1, count: 1_000).span)
            _ = log.append([UInt8](repeating: 1, count: 100_000).span)
            #expect(bytes.count == 101_000 && log.held == 101_000)
        }
        #expect(bytes.count == 0)
    }

    @Test func bytesInFlightAreReleasedAsLargeBodyIsRead() async throws {
        let bytes = BytesInFlight()
        let log = BodyLog(maximumReplayBytes: 0, bytesInFlight: bytes)
        let reader = try #require(log.makeReader())
        _ = log.append([UInt8](repeating: 1, count: 70_000).span)
        #expect(bytes.count == 70_000)
        _ = try await reader.next()
        #expect(bytes.count == 0)
        _ = log.append([UInt8](repeating: 1, count: 7).span)
        #expect(bytes.count == 7)
    }

    @Test func bytesThatADecodeHoldsAreInFlightUntilItReleasesThem() async throws {
        let bytes = BytesInFlight()
        let log = BodyLog(maximumReplayBytes: 0, bytesInFlight: bytes)
        var reader = log.makeReader()
        reader?.setKeepsBytes(true)
        _ = log.append([UInt8](repeating: 1, count: 70_000).span)
        _ = try await reader?.next()
        #expect(bytes.count == 70_000)
        reader?.setKeepsBytes(false)
        #expect(bytes.count == 0)
        reader?.setKeepsBytes(true)
        #expect(bytes.count == 70_000)
        reader = nil
        #expect(bytes.count == 0)
    }

    @Test func bodyThatADecodeHoldsWaitsForMemoryAndGrowsWhenOthersHaveEnded() async throws {
        let bytes = BytesInFlight(limit: 1 << 20, transfers: 4)
        let log = BodyLog(maximumReplayBytes: 0, bytesInFlight: bytes)
        let reader = try #require(log.makeReader())
        reader.setKeepsBytes(true)
        let piece = [UInt8](repeating: 7, count: 256 << 10)
        _ = log.append(piece.span)
        _ = try await reader.next()
        // Another body may grow although there is no memory.
        bytes.add(2 << 20)
        #expect(bytes.admits(bytes.newID()) {})
        #expect(log.append(piece.span) == .pause)
        bytes.remove(2 << 20)
        bytes.letBodiesGrow()
        #expect(log.append(piece.span) == .more)
    }

    @Test func completeBodyPassesItsTurnToGrowToAnotherWhenItIsRead() throws {
        let bytes = BytesInFlight(limit: 1 << 20, transfers: 4)
        let first = BodyLog(maximumReplayBytes: 4 << 20, bytesInFlight: bytes)
        let second = BodyLog(maximumReplayBytes: 4 << 20, bytesInFlight: bytes)
        let piece = [UInt8](repeating: 7, count: 16 << 10)
        for log in [first, second] { #expect(log.collect(for: OneShot<ResponseBody>(), isJoined: false)) }
        for _ in 0..<100 { #expect(first.append(piece.span) == .more) }
        // Its share of the memory.
        for _ in 0..<8 { #expect(second.append(piece.span) == .more) }
        #expect(second.append(piece.span) == .pause)

        first.finish(.delivered)
        let reader = try #require(first.makeReader())
        bytes.letBodiesGrow()
        #expect(second.append(piece.span) == .more)
        withExtendedLifetime(reader) {}
    }

    @Test(.timeLimit(.minutes(1)))
    func idleLoaderStartsOneDownloadDespiteByteLimit() async throws {
        let loader = ImageLoader(transport: InstantTransport(body: [1, 2, 3]))
        await loader.coordinator.bytesInFlight.add(1 << 40)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<100 {
                group.addTask { try await loader.data(for: ImageRequest("http://host/\(index)")).bytes.count }
            }
            for try await count in group { #expect(count == 3) }
        }
    }
}
