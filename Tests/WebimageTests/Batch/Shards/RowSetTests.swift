import Testing

@testable import webimage

struct RowSetTests {
    @Test func rowSetContainsTheInsertedRows() {
        let rows = [0, 63, 64, 127, 128, 1_000, 9_999]
        var set = RowSet()
        #expect(set.isEmpty)
        for row in rows.reversed() { set.insert(row) }
        #expect((0..<20_000).filter { set.contains($0) } == rows)
        #expect(set.count == rows.count && !set.isEmpty)
    }

    @Test func rowThatIsInsertedTwiceCountsOnce() {
        let set = RowSet([5, 70, 5, 70, 70])
        #expect(set.count == 2)
        #expect(set.contains(5) && set.contains(70) && !set.contains(6))
    }
}
