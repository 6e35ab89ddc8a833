import Testing
import Threading

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct LineWindowTests {
    @Test func lineWindowLimitsConcurrentLines() async {
        let window = LineWindow(limit: 2)
        #expect(await window.enter())
        #expect(await window.enter())
        let third = Task { await window.enter() }
        window.leave()
        #expect(await third.value)
        #expect(window.open == 2)
    }

    @Test func linesBeyondTheMinimumOpenOnlyIfSlotsAreFree() async {
        let areFree = Locked(true)
        let window = LineWindow(limit: 3, base: 1) { areFree.withLock { $0 } }
        #expect(await window.enter())
        #expect(await window.enter())
        areFree.withLock { $0 = false }
        let third = Task { await window.enter() }
        window.placesChanged()
        #expect(window.open == 2)
        areFree.withLock { $0 = true }
        window.placesChanged()
        #expect(await third.value)
        #expect(window.open == 3)
    }

    @Test func linesThatHaveNotBegunKeepFurtherOnesFromOpening() async {
        let window = LineWindow(limit: 10, base: 1)
        for _ in 0..<2 {
            #expect(await window.enter())
            window.willStart()
        }
        let third = Task { await window.enter() }
        window.placesChanged()
        #expect(window.open == 2)
        window.didStart()
        #expect(await third.value)
        #expect(window.open == 3)
    }

    @Test func freePlaceThatIsTakenAtOnceOpensNoLine() async {
        let checks = Locked(0)
        // Free when it is reported, but not anymore when the line would be opened.
        let window = LineWindow(limit: 3, base: 0) {
            checks.withLock { checks in
                checks += 1
                return checks == 2 || checks > 4
            }
        }
        let line = Task { await window.enter() }
        while checks.withLock({ $0 }) < 4 {
            window.placesChanged()
            await Task.yield()
        }
        #expect(window.open == 0)
        window.placesChanged()
        #expect(await line.value)
        #expect(window.open == 1)
    }

    @Test func longLinesCountByTheirBytes() async {
        let window = LineWindow(limit: 10, byteLimit: 100)
        #expect(await window.enter())
        window.add(bytes: 100)
        let second = Task { await window.enter() }
        window.leave(bytes: 100)
        #expect(await second.value)
        #expect(window.open == 1)
    }

    @Test func closedLineWindowAdmitsNoLines() async {
        let window = LineWindow(limit: 1)
        #expect(await window.enter())
        let waiting = Task { await window.enter() }
        window.close()
        #expect(await !waiting.value)
        window.leave()
        #expect(await !window.enter())
        #expect(window.open == 0)
    }
}
