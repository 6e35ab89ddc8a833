import SocketPolling
import TestSupport
import Testing

struct WatchTableTests {
    private var table = WatchTable()

    private func change(
        _ descriptor: Int32, _ number: UInt32, from old: WatchTable.Interest, to new: WatchTable.Interest
    ) -> WatchTable.Change {
        WatchTable.Change(descriptor: descriptor, number: number, old: old, new: new)
    }

    private func event(_ descriptor: Int32, _ number: UInt32) -> SocketEvent {
        SocketEvent(descriptor: descriptor, number: number, isReadable: true, isWritable: false, isBroken: false)
    }

    @Test mutating func watchChangesOnlyIfTheInterestDiffers() {
        #expect(table.watch(5, for: .readable) == change(5, 1, from: [], to: .readable))
        #expect(table.watch(5, for: .readable) == nil)
        #expect(table.watch(5, for: .writable) == change(5, 1, from: .readable, to: .writable))
        let both: WatchTable.Interest = [.readable, .writable]
        #expect(table.watch(5, for: both) == change(5, 1, from: .writable, to: both))
        #expect(table.watch(5, for: []) == change(5, 1, from: both, to: []))
        #expect(table.watch(5, for: []) == nil)
    }

    @Test mutating func eachWatchHasANumberOfItsOwn() {
        #expect(table.watch(3, for: .readable)?.number == 1)
        #expect(table.watch(4, for: .readable)?.number == 2)
        _ = table.forget(3)
        #expect(table.watch(3, for: .readable)?.number == 3)
    }

    @Test func watchNumbersSkipZeroAfterOverflow() {
        var table = WatchTable(lastNumber: .max - 1)
        #expect(table.watch(3, for: .readable)?.number == .max)
        #expect(table.watch(4, for: .readable)?.number == 1)
    }

    @Test mutating func forgottenSocketIsRemovedFromTheWatchTable() {
        _ = table.watch(5, for: .readable)
        #expect(table.forget(5) == change(5, 1, from: .readable, to: []))
        #expect(table.forget(5) == nil)
        #expect(table.reaction(to: event(5, 1)) == .ignore)
    }

    @Test mutating func aForgottenConnectionIsWatchedUntilItsNextEvent() {
        table.connectionOpened(5)
        _ = table.watch(5, for: .readable)
        #expect(table.forget(5) == nil)
        #expect(table.reaction(to: event(5, 1)) == .stopWatching(change(5, 1, from: .readable, to: [])))
        #expect(table.reaction(to: event(5, 1)) == .ignore)
        #expect(table.watch(5, for: .readable) == change(5, 2, from: [], to: .readable))
    }

    @Test mutating func connectionWatchedAgainBeforeItsEventNeedsNoChange() {
        table.connectionOpened(5)
        _ = table.watch(5, for: .readable)
        _ = table.forget(5)
        #expect(table.watch(5, for: .readable) == nil)
        #expect(table.reaction(to: event(5, 1)) == .deliver)
    }

    @Test mutating func eventsOfAnEarlierSocketAreIgnored() {
        table.connectionOpened(5)
        _ = table.watch(5, for: .readable)
        table.connectionClosed(5)
        #expect(table.reaction(to: event(5, 1)) == .ignore)
        table.connectionOpened(5)
        #expect(table.watch(5, for: .readable) == change(5, 2, from: [], to: .readable))
        #expect(table.reaction(to: event(5, 1)) == .ignore)
        #expect(table.reaction(to: event(5, 2)) == .deliver)
    }

    @Test mutating func openConnectionsAreCountedOnce() {
        for descriptor in [Int32(5), 6, 6] { table.connectionOpened(descriptor) }
        _ = table.watch(7, for: .readable)
        #expect(table.connectionCount == 2)
        for descriptor in [Int32(6), 6, 7, 100] { table.connectionClosed(descriptor) }
        #expect(table.connectionCount == 1)
    }

    @Test mutating func invalidDescriptorsDoNotChangeTheWatchTable() {
        #expect(table.watch(-1, for: .readable) == nil)
        #expect(table.forget(-1) == nil)
        #expect(table.forget(1_000) == nil)
        table.connectionOpened(-1)
        table.connectionClosed(-1)
        #expect(table.reaction(to: event(-1, 0)) == .ignore)
        #expect(table.reaction(to: event(1_000, 0)) == .ignore)
        #expect(table.connectionCount == 0)
    }

    /// Random steps, compared with the reports of a correct kernel.
    @Test(arguments: [1, 2, 3])
    mutating func eventsOfUnwatchedSocketsAreIgnored(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var kernel: [Int32: WatchTable.Change] = [:]
        var wanted: Set<Int32> = []
        for _ in 0..<20_000 {
            let descriptor = Int32.random(in: 0..<6, using: &random)
            var step: WatchTable.Change?
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                let interest: WatchTable.Interest = Bool.random(using: &random) ? .readable : [.readable, .writable]
                step = table.watch(descriptor, for: interest)
                wanted.insert(descriptor)
            case 2:
                step = table.forget(descriptor)
                wanted.remove(descriptor)
            case 3:
                table.connectionOpened(descriptor)
                (kernel[descriptor], _) = (nil, wanted.remove(descriptor))
            case 4:
                table.connectionClosed(descriptor)
                (kernel[descriptor], _) = (nil, wanted.remove(descriptor))
            default:
                guard let watch = kernel[descriptor] else { continue }
                let reaction = table.reaction(to: event(descriptor, watch.number))
                #expect((reaction == .deliver) == wanted.contains(descriptor))
                if case .stopWatching(let change) = reaction { step = change }
            }
            guard let step else { continue }
            #expect(step.old == kernel[step.descriptor]?.new ?? [])
            kernel[step.descriptor] = step.new.isEmpty ? nil : step
        }
        #expect(wanted.isSubset(of: kernel.keys))
    }
}
