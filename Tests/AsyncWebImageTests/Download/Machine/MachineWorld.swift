import HTTPTransport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// A naive model of everything outside a download machine: it carries out the actions and keeps simple
/// lists of callers and of the results they wait for.
struct MachineWorld {
    enum Work { case deciding, transferring }

    struct Caller {
        var subscriber: Subscriber
        var download: UInt64?
        var decode: UInt64?
        var wantsBytes: Bool { subscriber.variant == nil }
    }

    struct Body {
        let key: FetchKey
        /// A Boolean value that indicates whether a caller has had its answer.
        var isAnswered = false
        var isReceived = false
        var hasFailed = false
    }

    var machine: DownloadMachine
    var time = Stopwatch.Instant()
    /// Callers without an answer.
    var callers: [UInt64: Caller] = [:]
    /// The number of results that each caller has got.
    var ends: [UInt64: Int] = [:]
    /// Downloads that have not been closed.
    var open: [UInt64: Body] = [:]
    /// The active transfers, which continue after their download is closed until their end is reported.
    var work: [UInt64: Work] = [:]
    var backoffs: Set<UInt64> = []
    /// The slots of load groups that have not ended.
    var slots: [LoadSlot] = []
    /// The active decodes, and whether a caller wants them.
    var decodes: [UInt64: Bool] = [:]
    var isSuspended = false
    var isShutDown = false
    var hasFinished = false
    /// The number of unexpected events reported.
    var reports = 0
    /// A Boolean value that indicates whether the next attachments are refused because the beginning of the body is
    /// gone.
    var refuses = false
    /// A Boolean value that indicates whether the reported decode succeeded.
    var decodeSucceeds = false
    var faults: [String] = []

    init(_ configuration: DownloadConfiguration, hasResponseCache: Bool) {
        machine = DownloadMachine(configuration, hasResponseCache: hasResponseCache)
    }

    /// Sends the machine an event and its consequences, then lets it start eligible downloads.
    mutating func tell(_ event: DownloadMachine.Event) {
        handle(event)
        handle(.schedule(hasMemory: machine.hasMemory))
    }

    private mutating func handle(_ event: DownloadMachine.Event) {
        machine.handle(event, at: time)
        while let action = machine.nextAction() {
            if let answer = perform(action) { machine.handle(answer, at: time) }
        }
    }

    // MARK: Actions of the machine

    private mutating func perform(_ action: DownloadMachine.Action) -> DownloadMachine.Event? {
        switch action {
        case .open(let id, let caller, let decode):
            check(open[id] == nil, "\(id) is opened twice")
            open[id] = Body(key: caller.key)
            if let decode { decodes[decode] = true }
            callers[caller.id]?.download = id
            callers[caller.id]?.decode = decode
        case .attach(let attachment): return attach(attachment)
        case .decide(let id, _): begin(id, .deciding)
        case .transfer(let id, _), .perform(let id, _, _), .resume(let id, _, _): begin(id, .transferring)
        case .backOff(let id, _, _, _):
            check(backoffs.insert(id).inserted && work[id] == nil, "\(id) backs off twice")
        case .receive(let id):
            open[id]?.isReceived = true
            answerByteCallers(of: id, isSuccess: true)
        case .fail(let id, _, _):
            open[id]?.hasFailed = true
            backoffs.remove(id)
            answerByteCallers(of: id, isSuccess: false)
        case .close(let id, _, _):
            check(open.removeValue(forKey: id) != nil, "\(id) is closed twice")
            check(!callers.values.contains { $0.download == id }, "\(id) is closed while a caller waits")
            backoffs.remove(id)
        case .detach: break
        case .answer(let caller, _): end(caller.id)
        case .deliver(let decode, let answered, let id):
            let expected = callers.values.filter { $0.decode == decode }.map(\.subscriber.id)
            check(!answered.isEmpty && Set(answered.map(\.id)) == Set(expected), "decode \(decode) has other callers")
            for caller in answered { end(caller.id) }
            if decodeSucceeds { open[id]?.isAnswered = true }
        case .cancelDecode(let decode):
            check(decodes[decode] == true, "decode \(decode) is canceled twice")
            decodes[decode] = false
            check(!callers.values.contains { $0.decode == decode }, "decode \(decode) is wanted")
        case .finishShutdown:
            check(isShutDown && !hasFinished, "the shutdown ends twice")
            hasFinished = true
        case .report: reports += 1
        case .setAlarm, .configure, .beginShutdown, .grant, .announceRoom: break
        }
        return nil
    }

    private mutating func attach(_ attachment: DownloadMachine.Attachment) -> DownloadMachine.Event? {
        let id = attachment.download
        check(open[id] != nil, "\(id) is joined though it is closed")
        check(open[id]?.isAnswered == false, "\(id) is joined after an answer")
        check(open[id]?.hasFailed == false, "\(id) is joined though it has failed")
        check(open[id]?.key == attachment.caller.key, "\(id) is joined for another key")
        guard !refuses else { return .refused(attachment) }
        if attachment.startsDecode, let decode = attachment.decode { decodes[decode] = true }
        callers[attachment.caller.id]?.download = id
        callers[attachment.caller.id]?.decode = attachment.decode
        if attachment.decode == nil, open[id]?.isReceived == true {
            end(attachment.caller.id)
            open[id]?.isAnswered = true
        }
        return nil
    }

    private mutating func begin(_ id: UInt64, _ new: Work) {
        check(open[id] != nil && callers.values.contains { $0.download == id }, "\(id) runs without a caller")
        check(work[id] == nil && !backoffs.contains(id), "\(id) runs twice")
        check(!isSuspended, "\(id) starts while downloads are suspended")
        work[id] = new
        let transfers = work.values.count { $0 == .transferring }
        check(new == .deciding || transfers <= machine.configuration.slots, "more transfers than slots")
    }

    private mutating func answerByteCallers(of id: UInt64, isSuccess: Bool) {
        for (caller, state) in callers where state.download == id && state.wantsBytes {
            end(caller)
            if isSuccess { open[id]?.isAnswered = true }
        }
    }

    /// Records that a caller has been answered.
    mutating func end(_ caller: UInt64) {
        check(callers.removeValue(forKey: caller) != nil, "\(caller) gets two results")
        ends[caller, default: 0] += 1
    }

    // MARK: Comparing

    private mutating func check(_ isTrue: Bool, _ fault: @autoclosure () -> String) {
        if !isTrue { faults.append(fault()) }
    }

    /// Compares the state of the machine with this model.
    mutating func compare() {
        let (counts, expected) = (
            [machine.callers.count, machine.runningCount, machine.decodes.count],
            [callers.count, work.count, decodes.count]
        )
        check(counts == expected, "\(counts) callers, slots taken and decodes, not \(expected)")
        check(Set(machine.downloads.ids) == Set(open.keys).union(work.keys), "other downloads")
        var priorities: [UInt64: DownloadPriority] = [:]
        for caller in callers.values {
            guard let id = caller.download else { continue }
            priorities[id] = max(priorities[id] ?? .veryLow, caller.subscriber.priority)
        }
        var waiting: [DownloadPriority: Int] = [:]
        for (id, body) in open {
            check(priorities[id] != nil, "\(id) is open without a caller")
            guard let highest = priorities[id] else { continue }
            check(machine.downloads[id: id]?.callers.priority == highest, "\(id) has another priority than \(highest)")
            let isWaiting = work[id] == nil && !backoffs.contains(id) && !body.isReceived && !body.hasFailed
            if isWaiting { waiting[highest, default: 0] += 1 }
        }
        for priority in DownloadPriority.allCases {
            check(machine.waitingCount(of: priority) == waiting[priority] ?? 0, "other downloads wait at \(priority)")
        }
    }
}
