import Testing

@testable import HTTPTransport

struct SilentReadsTests {
    /// Returns a detector that watches a connection whose first response has arrived.
    private func watching(_ descriptor: Int32) -> StalledReadDetector {
        var reads = StalledReadDetector()
        reads.watch(descriptor)
        #expect(!reads.note(descriptor, .body) { 0 })
        return reads
    }

    @Test func connectionWithoutHeaderLinesOrBodyIsEnded() {
        var reads = watching(3)
        #expect(!reads.note(3, .nothing) { 1_000 })
        #expect(!reads.note(3, .nothing) { 1_000 + StalledReadDetector.limit })
        #expect(reads.note(3, .nothing) { 1_001 + StalledReadDetector.limit })
    }

    @Test(arguments: [CallContent.headerLines, .nothing]) func firstReadCountsTowardStallLimit(content: CallContent) {
        var reads = StalledReadDetector()
        reads.watch(3)
        #expect(reads.note(3, content) { StalledReadDetector.limit + 1 })
    }

    @Test func longBodyAfterTheFirstHeaderIsNoStall() {
        var reads = StalledReadDetector()
        reads.watch(3)
        #expect(!reads.note(3, .headerLines) { 200 })
        #expect(!reads.note(3, .body) { 10 * StalledReadDetector.limit })
        #expect(!reads.note(3, .nothing) { 10 * StalledReadDetector.limit })
    }

    @Test func readsAreCountedFromFirstHeaderLine() {
        var reads = StalledReadDetector()
        reads.watch(3)
        #expect(!reads.note(3, .headerLines) { 200 })
        #expect(!reads.note(3, .nothing) { 200 + StalledReadDetector.limit })
        #expect(reads.note(3, .nothing) { 201 + StalledReadDetector.limit })
    }

    @Test func responseDataResetsTheSilentReadCount() {
        var reads = watching(3)
        for count in 0..<10 {
            #expect(!reads.note(3, .nothing) { Int64(count) * StalledReadDetector.limit })
            #expect(!reads.note(3, .body) { 0 })
        }
    }

    @Test func bodyDeliveredOutsideReadEventsIsNoStall() {
        var reads = watching(3)
        for count in 0..<10 {
            let read = Int64(count) * 10 * StalledReadDetector.limit
            #expect(!reads.note(3, .nothing) { read })
            reads.delivered(.body, from: 3) { read }
        }
    }

    @Test func silentReadsAreCountedFromHeaderLineDeliveredOutsideReadEvents() {
        var reads = watching(3)
        #expect(!reads.note(3, .nothing) { 0 })
        reads.delivered(.headerLines, from: 3) { 10 * StalledReadDetector.limit }
        #expect(!reads.note(3, .nothing) { 11 * StalledReadDetector.limit })
        #expect(reads.note(3, .nothing) { 11 * StalledReadDetector.limit + 1 })
    }

    @Test func bodyOfAnotherConnectionDoesNotResetTheSilentReadCount() {
        var reads = watching(3)
        #expect(!reads.note(3, .nothing) { 0 })
        reads.delivered(.body, from: 4) { 0 }
        #expect(reads.note(3, .nothing) { StalledReadDetector.limit + 1 })
    }

    @Test func tlsConnectionIsNotCheckedForStalledReads() {
        var reads = StalledReadDetector()
        for count in 0..<10 { #expect(!reads.note(3, .nothing) { Int64(count) * StalledReadDetector.limit }) }
    }

    @Test func newConnectionWithReusedDescriptorCountsFromZero() {
        var reads = watching(3)
        #expect(!reads.note(3, .nothing) { 10 * StalledReadDetector.limit })
        reads.forget(3)
        reads.watch(3)
        #expect(!reads.note(3, .nothing) { StalledReadDetector.limit })
    }

    @Test func unknownReadCountsEndNoConnection() {
        var reads = watching(3)
        for _ in 0..<3 { #expect(!reads.note(3, .nothing) { -1 }) }
    }
}
