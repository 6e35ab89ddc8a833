import Testing

@testable import HTTPTransport

struct TransferAssignmentTests {
    /// An event: a transfer of a host starts, its response shows the protocol, or it ends.
    enum Step {
        case plain(String)
        case secure(String)
        case http1(String, on: Int)
        case http2(String, on: Int)
        case ends(String, on: Int)
        case loses(String, on: Int)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let capacities: [Int]
        let steps: [Step]
        /// The threads of the transfers that start, in order.
        let threads: [Int]

        init(_ description: String, capacities: [Int] = [100, 100, 100, 100], _ steps: [Step], _ threads: [Int]) {
            testDescription = description
            self.capacities = capacities
            self.steps = steps
            self.threads = threads
        }
    }

    static func key(_ step: Step) throws -> ConnectionKey {
        switch step {
        case .plain(let host): try ConnectionKey(HTTPURL("http://\(host).example/"), proxy: nil)
        case .secure(let host), .http1(let host, _), .http2(let host, _):
            try ConnectionKey(HTTPURL("https://\(host).example/"), proxy: nil)
        case .ends(let host, _), .loses(let host, _):
            // Hosts with capital names have TLS.
            try ConnectionKey(
                HTTPURL("\(host.first?.isUppercase == true ? "https" : "http")://\(host).example/"), proxy: nil)
        }
    }

    static let cases: [Case] = [
        Case("one thread", capacities: [5], repeated(.plain("a"), 3), [0, 0, 0]),
        Case("few transfers need one thread", repeated(.plain("a"), 4), [0, 0, 0, 0]),
        Case(
            "threads are started when the others are busy, then balanced", repeated(.plain("a"), 18),
            [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0, 1]),
        Case(
            "sequential transfers keep their connection",
            [.plain("a"), .ends("a", on: 0), .plain("a"), .ends("a", on: 0), .plain("a")], [0, 0, 0]),
        Case(
            "an idle connection is used on a thread with a few more transfers",
            repeated(.plain("a"), 8) + [.ends("a", on: 1), .plain("a")], [0, 0, 0, 0, 1, 1, 1, 1, 1]),
        Case(
            "a lost connection attracts no transfer",
            repeated(.plain("a"), 8) + [.ends("a", on: 0), .loses("a", on: 1), .loses("a", on: 1), .plain("a")],
            [0, 0, 0, 0, 1, 1, 1, 1, 0]),
        Case(
            "another host does not use the idle connection",
            repeated(.plain("a"), 9) + [.ends("a", on: 0), .plain("b")], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]),
        Case(
            "transfers wait where the protocol is being determined", repeated(.secure("A"), 10),
            Array(repeating: 0, count: 10)),
        Case(
            "HTTP/2 stays on its thread", [.secure("A"), .http2("A", on: 0)] + repeated(.secure("A"), 9),
            Array(repeating: 0, count: 10)),
        Case(
            "HTTP/1.1 over TLS is spread", [.secure("A"), .http1("A", on: 0)] + repeated(.secure("A"), 5),
            [0, 0, 0, 0, 1, 1]),
        Case(
            "an idle connection of HTTP/2 is used on a busy thread",
            [.secure("A"), .http2("A", on: 0), .ends("A", on: 0)] + repeated(.plain("b"), 12) + [.secure("A")],
            [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0]),
        Case(
            "a host of HTTP/2 stays on its thread after its connection is lost",
            [.secure("A"), .http2("A", on: 0), .loses("A", on: 0)] + repeated(.plain("b"), 12) + [.secure("A")],
            [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0]),
        Case(
            "a host of HTTP/2 without a connection leaves a full thread", capacities: [4, 4, 4, 4],
            [.secure("A"), .http2("A", on: 0), .loses("A", on: 0)] + repeated(.plain("b"), 4) + [.secure("A")],
            [0, 0, 0, 0, 0, 1]),
        Case(
            "transfers over one connection of HTTP/2 count as one", capacities: [2, 2],
            [.secure("A"), .http2("A", on: 0)] + repeated(.secure("A"), 3) + [.plain("b"), .plain("b"), .plain("b")],
            [0, 0, 0, 0, 1, 1, 0]),
        Case(
            "every connection of the limit is used", capacities: [2, 2, 1, 1], repeated(.plain("a"), 6),
            [0, 0, 1, 1, 2, 3]),
        Case(
            "transfers that wait for the protocol need one connection, those of HTTP/1.1 leave a full thread",
            capacities: [2, 2], repeated(.secure("A"), 4) + [.http1("A", on: 0), .secure("A")], [0, 0, 0, 0, 1]),
        Case(
            "transfers beyond the connections of the thread that determines the protocol use other threads",
            capacities: [3, 3], repeated(.secure("A"), 5), [0, 0, 0, 0, 1]),
        Case(
            "an idle connection on a full thread does not outweigh a thread with room", capacities: [2, 2],
            [.plain("a"), .ends("a", on: 0)] + repeated(.plain("b"), 2) + [.plain("a")], [0, 0, 0, 1]),
        Case(
            "an idle connection does not outweigh many more transfers",
            repeated(.secure("A"), 10) + [.http1("A", on: 0), .ends("A", on: 0), .secure("A"), .secure("A")],
            Array(repeating: 0, count: 10) + [1, 1]),
    ]

    private static func repeated(_ step: Step, _ count: Int) -> [Step] { Array(repeating: step, count: count) }

    @Test(arguments: cases)
    func transfersAreAssigned(_ subject: Case) throws {
        var assignment = TransferAssignment(capacities: subject.capacities)
        var threads: [Int] = []
        for step in subject.steps {
            let key = try Self.key(step)
            switch step {
            case .plain, .secure: threads.append(assignment.assign(key))
            case .http1(_, let thread): assignment.learn(key, isMultiplexed: false, on: thread)
            case .http2(_, let thread): assignment.learn(key, isMultiplexed: true, on: thread)
            case .ends(_, let thread): assignment.end(key, on: thread, keepsConnection: true)
            case .loses(_, let thread): assignment.end(key, on: thread, keepsConnection: false)
            }
        }
        #expect(threads == subject.threads)
        #expect(assignment.startedCount == (threads.max() ?? 0) + 1)
    }

    @Test func rememberedHostsAreBounded() throws {
        var assignment = TransferAssignment(capacities: [10, 10])
        let running = try ConnectionKey(HTTPURL("http://running.example/"), proxy: nil)
        _ = assignment.assign(running)
        for number in 0..<(3 * TransferAssignment.maximumKeys) {
            let key = try ConnectionKey(HTTPURL("http://h\(number).example/"), proxy: nil)
            let thread = assignment.assign(key)
            assignment.end(key, on: thread, keepsConnection: true)
            if assignment.keyCount > TransferAssignment.maximumKeys { break }
        }
        #expect(assignment.keyCount <= TransferAssignment.maximumKeys)
        assignment.end(running, on: 0, keepsConnection: true)
        #expect(assignment.running == [0, 0])
    }

    @Test func transfersMoveFromAThreadThatCannotBeStarted() throws {
        var assignment = TransferAssignment(capacities: [100, 100, 100])
        let key = try ConnectionKey(HTTPURL("http://a.example/"), proxy: nil)
        for _ in 0..<8 { _ = assignment.assign(key) }
        let refused = assignment.assign(key)
        #expect(refused == 2)
        let other = assignment.reassign(key, from: refused, toFirst: 2)
        #expect(other == 0)
        let later = (0..<10).map { _ in assignment.assign(key) }
        #expect(Set(later) == [0, 1])
        #expect(assignment.running == [10, 9, 0])
    }

    @Test func redirectsAreCountedWhereTheyRun() throws {
        var assignment = TransferAssignment(capacities: [100, 100])
        let first = try ConnectionKey(HTTPURL("http://a.example/"), proxy: nil)
        let second = try ConnectionKey(HTTPURL("https://b.example/"), proxy: nil)
        let thread = assignment.assign(first)
        assignment.end(first, on: thread, keepsConnection: true)
        assignment.begin(second, on: thread)
        assignment.learn(second, isMultiplexed: true, on: thread)
        #expect(assignment.running == [1, 0])
        assignment.end(second, on: thread, keepsConnection: true)
        #expect(assignment.running == [0, 0])
    }

    @Test(arguments: [
        ("http://a.example/", nil, "http://a.example:80/x", nil, true),
        ("http://a.example/", nil, "https://a.example/", nil, false),
        ("http://a.example/", nil, "http://a.example:81/", nil, false),
        ("http://a.example/", nil, "http://b.example/", nil, false),
        ("http://a.example/", "http://p:1", "http://b.example/", "http://p:1", true),
        ("http://a.example/", "http://p:1", "http://b.example/", "http://p:2", false),
        ("https://a.example/", "http://p:1", "https://a.example/", "http://p:1", true),
        ("https://a.example/", "http://p:1", "https://b.example/", "http://p:1", false),
        ("https://a.example/", "http://p:1", "https://a.example/", nil, false),
    ])
    func connectionsAreSharedByOriginAndProxy(
        _ left: String, _ leftProxy: String?, _ right: String, _ rightProxy: String?, areEqual: Bool
    ) throws {
        let keys = try [(left, leftProxy), (right, rightProxy)].map { try ConnectionKey(HTTPURL($0.0), proxy: $0.1) }
        #expect((keys[0] == keys[1]) == areEqual)
    }
}
