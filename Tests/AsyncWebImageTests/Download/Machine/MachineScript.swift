import HTTPTransport
import HTTPTypes
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// A download machine driven by a test, with its actions as text.
struct MachineScript {
    private(set) var machine: DownloadMachine
    /// Whether another element of a load group could become active, and how many have been considered.
    struct Room: Equatable {
        let isThere: Bool
        let considered: Int
    }

    /// The announcements to load groups.
    private(set) var rooms: [Room] = []
    /// The time of the next event.
    var time = Stopwatch.Instant()

    /// Creates a machine with one slot and without time limits, which retries after ten seconds.
    init(hasResponseCache: Bool = false, _ change: (inout DownloadConfiguration) -> Void = { _ in }) {
        var configuration = DownloadConfiguration(maximumConcurrentDownloads: 1, retry: ConstantBackoff())
        configuration.deadlines.total = nil
        change(&configuration)
        machine = DownloadMachine(configuration, hasResponseCache: hasResponseCache)
    }

    /// Handles an event and returns the resulting actions.
    mutating func handle(_ event: DownloadMachine.Event) -> [DownloadMachine.Action] {
        machine.handle(event, at: time)
        var actions: [DownloadMachine.Action] = []
        while let action = machine.nextAction() {
            if case .announceRoom(_, let hasRoom, let count) = action {
                rooms.append(Room(isThere: hasRoom, considered: count))
            } else {
                actions.append(action)
            }
        }
        return actions
    }

    /// Handles events in order, then starts eligible downloads; returns the resulting actions as text.
    mutating func tell(_ events: DownloadMachine.Event...) -> [String] {
        var words: [String] = []
        for event in events { words += handle(event).map(\.words) }
        return words + handle(.schedule(hasMemory: machine.hasMemory)).map(\.words)
    }

    /// Handles events whose actions are ignored.
    mutating func run(_ events: DownloadMachine.Event...) {
        for event in events { _ = handle(event) }
    }

    /// Expects the actions that result from an event: one row of a table.
    mutating func expect(
        _ event: DownloadMachine.Event, _ actions: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let words = tell(event)
        #expect(words == actions, sourceLocation: sourceLocation)
    }

    /// Expects, at the end of a table, that no caller waits, nothing runs, and no state is left.
    func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(machine.downloads.isEmpty && machine.joinable.isEmpty, sourceLocation: sourceLocation)
        #expect(machine.callers.count == 0 && machine.decodes.isEmpty, sourceLocation: sourceLocation)
        #expect(machine.runningCount == 0 && machine.waitingCount == 0, sourceLocation: sourceLocation)
        #expect(machine.slotsInUse.isEmpty, sourceLocation: sourceLocation)
    }
}

/// Always retries after ten seconds, with three attempts in total.
struct ConstantBackoff: RetryPolicy {
    func delay(after error: ImageError, attempts: Int) -> Duration? { attempts < 3 ? .seconds(10) : nil }
}

extension Subscriber {
    /// A caller that wants the bytes of `http://host/name`, or pixels no larger than `side`.
    static func test(
        _ id: ID, _ name: String = "a", host: String = "example.com", side: Int? = nil,
        priority: DownloadPriority = .normal, finishes: Bool = false, slot: LoadSlot? = nil, bytes: BodyStream? = nil
    ) -> Subscriber {
        guard let url = try? HTTPURL("http://\(host)/\(name)") else { fatalError("not a URL: \(host)/\(name)") }
        let product: Product =
            side.map { .image(PixelRecipe(options: DecodeOptions(target: .maximumSide($0))), OneShot()) } ?? bytes.map {
                .bytes($0)
            }
            ?? .data(OneShot())
        var caller = Subscriber(
            id: id, key: FetchKey(url: url, headerFields: [:]), product: product, priority: priority,
            finishesOnShutdown: finishes)
        caller.slot = slot
        return caller
    }
}

extension DownloadMachine.Mismatch {
    /// A caller that expects another body.
    static func test(
        _ id: Subscriber.ID, _ name: String, policy: CachePolicy = .useProtocol, finishes: Bool = false
    ) -> Self {
        var caller = Subscriber.test(id, name, finishes: finishes)
        caller.key = caller.key.with(policy)
        return Self(caller: caller, error: .lasting)
    }
}

extension ImageError {
    /// A temporary failure.
    static let passing = ImageError.transport(TransportError(url: "http://example.com/a", reason: .connectionLost))
    /// A permanent failure.
    static let lasting = ImageError.invalidURL("http://example.com/a")
}

extension Resumption {
    /// The first `offset` bytes of a body.
    static func test(_ offset: Int, isStored: Bool = false, _ fields: HTTPFields = [:]) -> Resumption? {
        guard let url = try? HTTPURL("http://example.com/a") else { return nil }
        var fields = fields
        fields[.eTag] = "\"a\""
        let head = ResponseHead(response: HTTPResponse(status: .ok, headerFields: fields), url: url)
        var resumption = Resumption(head, offset: offset, total: nil)
        if isStored { resumption?.stored = [[UInt8](repeating: 1, count: offset)] }
        return resumption
    }
}

extension DownloadMachine.Action {
    /// A short description of the action, as in the tables of the tests.
    var words: String {
        switch self {
        case .open(let id, let caller, let decode):
            "open \(id) for \(caller.id)" + (caller.isJoined ? ", which joined another" : "") + Self.words(decode)
        case .decide(let id, let limit): "decide \(id)" + Self.words(limit)
        case .transfer(let id, let attempt), .perform(let id, let attempt, _), .resume(let id, let attempt, _):
            "transfer \(id) attempt \(attempt.number)" + (offset.map { " from \($0)" } ?? "")
                + (isDecided ? " as decided" : "") + Self.words(attempt.timeLimit)
        case .backOff(let id, let end, let delay, _): "back off \(id) for \(delay) until \(end.elapsed)"
        case .receive(let id): "receive \(id)"
        case .fail(let id, let error, let keeps): "fail \(id): \(error)" + (keeps ? ", keeping" : "")
        case .close(let id, let isOver, let keeps):
            "close \(id)" + (isOver ? "" : " early") + (keeps ? ", keeping" : "")
        case .attach(let attachment):
            "attach \(attachment.caller.id) to \(attachment.download)" + Self.words(attachment.decode)
                + (attachment.startsDecode ? " new" : "") + (attachment.isBeforeEnd ? " before its end" : "")
        case .detach(let caller, let id, let decode): "detach \(caller.id) from \(id)" + Self.words(decode)
        case .answer(let caller, let error): "answer \(caller.id): \(error)"
        case .deliver(let decode, let callers, let id):
            "deliver decode \(decode) of \(id) to \(callers.map(\.id).sorted())"
        case .cancelDecode(let decode): "cancel decode \(decode)"
        case .grant: "grant"
        case .announceRoom: "announce room"
        case .setAlarm(let kind, let time): "alarm \(kind) at \(time.elapsed)"
        case .configure: "configure"
        case .beginShutdown: "begin shutdown"
        case .finishShutdown: "finish shutdown"
        case .report(let event): "report \(event)"
        }
    }

    private var offset: Int? {
        if case .resume(_, _, let resumption) = self { resumption.offset } else { nil }
    }

    /// A Boolean value that indicates whether the response cache has decided about the request.
    private var isDecided: Bool { if case .perform = self { true } else { false } }

    private static func words(_ decode: DownloadMachine.DecodeID?) -> String { decode.map { " decode \($0)" } ?? "" }
    private static func words(_ limit: Duration?) -> String { limit.map { " within \($0)" } ?? "" }
}
