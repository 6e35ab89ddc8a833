import HTTPTransport
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// A hundred thousand random events, compared with a naive model after each.
///
/// Every caller gets exactly one result, nothing runs without a caller, no slot or caller is left over, a download has
/// the highest priority of its callers, and no caller joins a download after one of its callers has received its
/// result.
@Suite(.timeLimit(.minutes(5)))
struct DownloadMachineRandomTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func randomEventsGiveEveryCallerOneResultAndLeaveNoState(seed: UInt64) async {
        var run = Run(seed: seed)
        for step in 0..<12_500 where run.world.faults.isEmpty {
            // Other tests run beside this one.
            if step % 100 == 0 { await Task.yield() }
            run.step()
            run.world.compare()
            #expect(run.world.faults.isEmpty, "seed \(seed), step \(step)")
        }
        run.drain()
        let machine = run.world.machine
        #expect(run.world.faults.isEmpty, "seed \(seed), at the end")
        #expect(run.world.callers.isEmpty && run.world.ends.count == run.lastCaller)
        #expect(run.world.ends.values.allSatisfy { $0 == 1 })
        #expect(machine.downloads.isEmpty && machine.joinable.isEmpty && machine.decodes.isEmpty)
        #expect(machine.callers.count == 0 && machine.runningCount == 0 && machine.waitingCount == 0)
        #expect(run.world.reports == run.impossible && run.world.hasFinished)
    }

    /// Random events for one machine.
    private struct Run {
        var world: MachineWorld
        var random: SplitMix
        var lastCaller = 0
        let groups = [1, 3].map { LoadGroup(limit: $0, maximumOpen: 100, isOrdered: false) { _ in } }
        /// The number of impossible events.
        var impossible = 0

        init(seed: UInt64) {
            random = SplitMix(seed: seed)
            var configuration = DownloadConfiguration(
                maximumConcurrentDownloads: 4, maximumConcurrentDownloadsPerHost: 3, retry: ConstantBackoff())
            configuration.executionOrder = seed % 2 == 0 ? .fifo : .lifo
            configuration.deadlines.total = seed % 3 == 0 ? .seconds(30) : nil
            world = MachineWorld(configuration, hasResponseCache: seed % 4 < 2)
        }

        mutating func step() {
            world.time.elapsed += .milliseconds(Int.random(in: 0...200, using: &random))
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<34: join()
            case 34..<44: leave()
            case 44..<50: prioritize()
            case 50..<72: endWork()
            case 72..<84: endDecode()
            case 84..<88: endBackoff()
            case 88..<90: endSlot()
            case 90..<92: suspend(Bool.random(using: &random))
            case 92..<94: world.tell(.memory(hasCapacity: Int.random(in: 0..<3, using: &random) > 0))
            case 94: configure()
            case 95: world.tell(.deadlinePassed)
            case 96: tellTheImpossible()
            default: if Int.random(in: 0..<150, using: &random) == 0 { world.tell(.cancelAll) }
            }
        }

        private mutating func join() {
            lastCaller += 1
            let side = Bool.random(using: &random) ? nil : [10, 20][Int.random(in: 0..<2, using: &random)]
            var slot: LoadSlot?
            if Bool.random(using: &random) {
                // An element can make several requests.
                let used = Int.random(in: 0..<3, using: &random) == 0 ? world.slots.randomElement(using: &random) : nil
                slot = used ?? LoadSlot(lastCaller, of: groups[lastCaller % groups.count])
                if let slot, used == nil { world.slots.append(slot) }
            }
            let caller = Subscriber.test(
                UInt64(lastCaller), "\(Int.random(in: 0..<12, using: &random))", side: side,
                priority: DownloadPriority.allCases.randomElement(using: &random) ?? .normal,
                finishes: Bool.random(using: &random), slot: slot)
            world.callers[caller.id] = .init(subscriber: caller)
            world.refuses = Int.random(in: 0..<10, using: &random) == 0
            world.tell(.join(caller))
            world.refuses = false
        }

        private mutating func leave() {
            // A caller can also leave after it has received its result.
            guard let caller = world.callers.keys.sorted().randomElement(using: &random) else {
                return world.tell(.leave(UInt64(lastCaller)))
            }
            world.end(caller)
            world.tell(.leave(caller))
        }

        private mutating func prioritize() {
            guard let caller = world.callers.keys.sorted().randomElement(using: &random) else { return }
            let priority = DownloadPriority.allCases.randomElement(using: &random) ?? .normal
            world.callers[caller]?.subscriber.priority = priority
            world.tell(.prioritize(caller, priority))
        }

        private mutating func endWork() {
            guard let id = world.work.keys.sorted().randomElement(using: &random),
                let work = world.work.removeValue(forKey: id)
            else { return }
            let isWanted = world.open[id].map { !$0.hasFailed } ?? false
            switch Int.random(in: 0..<10, using: &random) {
            case _ where !isWanted: world.tell(.transferEnded(id, .cancelled))
            case 0..<3 where work == .deciding: world.tell(.decided(id, .fetch(standIn: nil)))
            case 3: world.tell(.transferEnded(id, .failed(.lasting)))
            case 4, 5: world.tell(.transferEnded(id, .failed(.passing)))
            case 6: world.tell(.transferEnded(id, .notContinued))
            default: world.tell(.transferEnded(id, .complete))
            }
        }

        private mutating func endDecode() {
            guard let decode = world.decodes.keys.sorted().randomElement(using: &random) else { return }
            world.decodes[decode] = nil
            world.decodeSucceeds = Int.random(in: 0..<4, using: &random) > 0
            world.tell(.decodeEnded(decode, isSuccess: world.decodeSucceeds))
        }

        private mutating func endBackoff() {
            guard let id = world.backoffs.sorted().randomElement(using: &random) else { return }
            if Bool.random(using: &random), let resumption = Resumption.test(500) {
                world.tell(.resumable(id, resumption))
            }
            world.backoffs.remove(id)
            world.tell(.backoffElapsed(id))
        }

        private mutating func endSlot() {
            guard let index = world.slots.indices.randomElement(using: &random) else { return }
            let slot = world.slots.remove(at: index)
            slot.release()
            world.tell(.slot(.end(slot)))
        }

        private mutating func suspend(_ isSuspended: Bool) {
            world.isSuspended = isSuspended
            world.tell(isSuspended ? .suspend : .resume)
        }

        private mutating func configure() {
            var configuration = world.machine.configuration
            configuration.maximumConcurrentDownloads = Int.random(in: 1...8, using: &random)
            configuration.maximumConcurrentDownloadsPerHost = Int.random(in: 1...8, using: &random)
            configuration.maximumConnectionsPerHost = Int.random(in: 1...8, using: &random)
            configuration.executionOrder = Bool.random(using: &random) ? .fifo : .lifo
            if Bool.random(using: &random) { configuration.headerFields[.acceptLanguage] = "\(lastCaller)" }
            world.tell(.configure(configuration))
        }

        private mutating func tellTheImpossible() {
            let idle = world.open.keys.filter { world.work[$0] == nil }.sorted().randomElement(using: &random)
            let events: [DownloadMachine.Event] = [
                .transferEnded(idle ?? 0, .complete), .decided(idle ?? 0, .fetch(standIn: nil)),
                .decodeEnded(.max, isSuccess: true), .gracePeriodEnded,
            ]
            guard let event = events.randomElement(using: &random) else { return }
            impossible += 1
            world.tell(event)
        }

        /// Shuts down, and lets everything end.
        mutating func drain() {
            world.isSuspended = false
            world.isShutDown = true
            world.tell(.shutDown(gracePeriod: .seconds(10)))
            world.compare()
            for _ in 0..<500 where !world.hasFinished {
                join()
                endWork()
                endDecode()
                endBackoff()
                endSlot()
                world.compare()
            }
            world.tell(.gracePeriodEnded)
            while !world.work.isEmpty || !world.decodes.isEmpty {
                endWork()
                endDecode()
            }
        }
    }
}
