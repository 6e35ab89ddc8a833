import Testing

@testable import HTTPTransport

struct SilentReadsTests {
    private func watching(_ descriptor: Int32) -> SilentReads {
        var reads = SilentReads()
        reads.watch(descriptor)
        return reads
    }

    @Test func aConnectionThatBringsNeitherLinesNorBodyIsEnded() {
        var reads = watching(3)
        #expect(!reads.note(3, calledBack: false) { 1_000 })
        #expect(!reads.note(3, calledBack: false) { 1_000 + SilentReads.limit })
        #expect(reads.note(3, calledBack: false) { 1_001 + SilentReads.limit })
    }

    @Test func responseDataResetsTheSilentReadCount() {
        var reads = watching(3)
        for count in 0..<10 {
            #expect(!reads.note(3, calledBack: false) { Int64(count) * SilentReads.limit })
            #expect(!reads.note(3, calledBack: true) { 0 })
        }
    }

    @Test func aConnectionWithTLSIsLeftAlone() {
        var reads = SilentReads()
        for count in 0..<10 { #expect(!reads.note(3, calledBack: false) { Int64(count) * SilentReads.limit }) }
    }

    @Test func aConnectionInThePlaceOfAClosedOneBeginsAtZero() {
        var reads = watching(3)
        #expect(!reads.note(3, calledBack: false) { 0 })
        reads.forget(3)
        reads.watch(3)
        #expect(!reads.note(3, calledBack: false) { 2 * SilentReads.limit })
    }

    @Test func unknownCountsEndNothing() {
        var reads = watching(3)
        for _ in 0..<3 { #expect(!reads.note(3, calledBack: false) { -1 }) }
    }
}
