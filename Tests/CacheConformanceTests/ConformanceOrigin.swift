import LoopbackOrigin
import TestSupport
import Threading

/// The origin of a test: responds as the test specifies, and records its requests.
final class ConformanceOrigin: Sendable {
    /// A request that the origin has seen.
    struct Seen: Sendable {
        let fields: HeaderFields
        /// The fields of the response that must arrive unchanged.
        let checkedFields: [Field]
    }

    /// A header field of a response.
    struct Field: Sendable {
        let name: String
        let value: String
        /// A Boolean value that indicates whether it must arrive unchanged.
        let isChecked: Bool

        fileprivate init?(_ field: [ConformanceRequest.Value], now: Int) {
            guard case .text(let name)? = field.first, field.count > 1 else { return nil }
            self.name = name
            value = field[1].field(name, now: now)
            isChecked = field.count < 3 || field[2] == .flag(true)
        }
    }

    private struct State {
        var count = 0
        /// The last request with each number.
        var seen: [Int: Seen] = [:]
        /// The validators of the response before.
        var entityTag: String?
        var lastModified: String?
    }

    /// The field of a request with its number, from 1.
    static let number = "Req-Num"
    /// The fields of a response with the number of requests seen so far, and with the number of its request.
    static let (serverCount, clientCount) = ("Server-Request-Count", "Client-Request-Count")
    /// The field of a response with the time at the origin, in seconds.
    static let serverTime = "Server-Now"

    private let test: ConformanceTest
    private let time: ManualTime
    private let state = Locked(State())

    init(_ test: ConformanceTest, _ time: ManualTime) {
        self.test = test
        self.time = time
    }

    /// Returns the last request with a number.
    func seen(_ number: Int) -> Seen? { state.withLock { $0.seen[number] } }

    func response(to request: LoopbackOrigin.Request) -> LoopbackOrigin.Response {
        let number = request.headerFields[Self.number].flatMap { Int($0) } ?? 0
        guard test.requests.indices.contains(number - 1) else { return LoopbackOrigin.Response(status: 409) }
        let script = test.requests[number - 1]
        let now = time.now
        let fields = (script.response_headers ?? []).compactMap { Field($0, now: now) }
        let (count, status) = state.withLock { state -> (Int, Int) in
            state.count += 1
            state.seen[number] = Seen(fields: request.headerFields, checkedFields: fields.filter { $0.isChecked })
            let status = Self.status(of: script, to: request, state)
            state.entityTag = fields.first { $0.name.lowercased() == "etag" }?.value
            state.lastModified = fields.first { $0.name.lowercased() == "last-modified" }?.value
            return (state.count, status)
        }
        var all: HeaderFields = [
            Self.serverCount: "\(count)", Self.clientCount: "\(number)", Self.serverTime: "\(now)",
            "Content-Type": "text/plain",
        ]
        if fields.contains(where: { $0.name.lowercased() == "content-type" }) { all.fields.removeLast() }
        for field in fields { all.append(field.name, field.value) }
        // The time passes at once.
        if let pause = script.response_pause { time.advance(by: pause) }
        return response(script, status, all)
    }

    private func response(
        _ script: ConformanceRequest, _ status: Int, _ fields: HeaderFields
    ) -> LoopbackOrigin.Response {
        let hasBody = status != 204 && status != 304
        var response = LoopbackOrigin.Response(
            status: status, headerFields: fields, body: hasBody ? Array((script.response_body ?? test.body).utf8) : [])
        response.reason = "Scripted"
        if hasBody, let length = fields["Content-Length"].flatMap({ Int($0) }) {
            response.headerFields.fields.removeAll { $0.name == "Content-Length" }
            response.framing = .claimedContentLength(length)
        }
        return script.disconnect == true ? response.cut(at: .start) : response
    }

    /// Returns the declared status, or 304 for an expected conditional request; 999 if the request is not that one.
    private static func status(
        of script: ConformanceRequest, to request: LoopbackOrigin.Request, _ state: State
    ) -> Int {
        if let type = script.expected_type, type.isValidation {
            let isCurrent =
                type == .etag_validated
                ? state.entityTag != nil && request.headerFields["If-None-Match"] == state.entityTag
                : state.lastModified != nil && request.headerFields["If-Modified-Since"] == state.lastModified
            return isCurrent ? 304 : 999
        }
        if case .number(let status)? = script.response_status?.first { return status }
        return 200
    }
}
