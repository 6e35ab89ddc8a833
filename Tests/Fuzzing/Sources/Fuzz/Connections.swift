import Dispatch
import HTTPTypes

@testable import HTTPTransport

/// Makes requests to a server whose responses are the input.
///
/// The first line of an input contains options: `n` sends line ends as CRLF, `b` sends byte by byte, `h` makes HEAD
/// requests, `c` keeps cookies, `p` has a password for challenges, `s` stops at the first bytes, `w` pauses once, `m`
/// makes three requests at the same time in place of two in succession, `t` uses TLS, `2` uses HTTP/2, `r` sends the
/// responses in place of TLS. Responses follow, with lines of five equals signs between them: redirects and challenges
/// take one each. Those in HTTP/2 consist of records (see ``HTTP2Record``).
func exchange(_ bytes: [UInt8]) {
    let lines = bytes.lines
    let options = text(lines[0])
    let lineEnd: [UInt8] = options.contains("n") ? [0x0D, 0x0A] : [0x0A]
    let answers = lines.dropFirst().split(separator: Array("=====".utf8)[...], omittingEmptySubsequences: false).map {
        Array($0.joined(separator: lineEnd))
    }
    // The last line end before a separator belongs to the response.
    let whole = answers.dropLast().map { $0 + lineEnd } + answers.suffix(1)
    let isHTTP2 = options.contains("2")
    ScriptedServer.shared.answer(
        by: isHTTP2 ? whole.map { HTTP2Record.bytes(in: $0[...]) } : whole, byteByByte: options.contains("b"),
        in: isHTTP2 ? .http2 : options.contains("t") ? .http1OverTLS : .plain)
    let transport = CurlTransport(configuration: configuration())
    if options.contains("m") {
        let fetches = ["1", "2", "3"].map { start($0, options, transport) }
        for fetch in fetches { fetch.wait() }
    } else {
        for path in ["1", "2"] { start(path, options, transport).wait() }
    }
    guard !isHTTP2 else { return }
    for head in ScriptedServer.shared.requestHeads { check(requestHead: head) }
}

/// Reads the bytes as a file of cookies, which are sent to the server.
func readCookies(_ bytes: [UInt8]) {
    let path = folder + "/cookies"
    write(bytes, to: path)
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nSet-Cookie: a=b\r\n\r\na".utf8)
    ScriptedServer.shared.answer(by: [answer, answer])
    let transport = CurlTransport(configuration: configuration(cookieFile: path))
    for path in ["1", "2"] { start(path, "c", transport).wait() }
    for head in ScriptedServer.shared.requestHeads { check(requestHead: head, isFileTrusted: true) }
}

/// No other server is contacted, whatever the response.
private func configuration(cookieFile: String? = nil) -> CurlTransport.Configuration {
    let port = ScriptedServer.shared.port
    return CurlTransport.Configuration(
        proxy: .none,
        tls: TLSOptions(certificateAuthorityFile: ScriptedServer.shared.certificateFile),
        policy: NetworkPolicy(
            hosts: [.allow("127.0.0.1"), .denyOthers], ports: [.allow(port...port), .denyOthers],
            addresses: [.allow("127.0.0.1/32"), .denyOthers]),
        cookieFile: cookieFile)
}

private let maximumBodyBytes = 10_000

/// A transfer that has been started.
private struct Fetch {
    let transfer: any Transfer
    let receiver: Receiver

    func wait() {
        while !receiver.hasEnded() { transfer.resume() }
    }
}

private func start(_ path: String, _ options: String, _ transport: CurlTransport) -> Fetch {
    let scheme = options.contains { "t2r".contains($0) } ? "https" : "http"
    guard let url = try? HTTPURL("\(scheme)://127.0.0.1:\(ScriptedServer.shared.port)/\(path)") else {
        preconditionFailure("a plain URL")
    }
    let request = TransportRequest(
        url: url, method: options.contains("h") ? .head : .get,
        credential: options.contains("p") ? .password(user: "user", password: "password") : nil,
        handlesCookies: options.contains("c"),
        deadlines: Deadlines(
            lookup: .seconds(1), connect: .seconds(1), firstByte: .seconds(1), idle: .seconds(1), total: .seconds(2)),
        maximumBodyBytes: maximumBodyBytes, maximumRedirects: 4)
    let receiver = Receiver(stops: options.contains("s"), pauses: options.contains("w"))
    return Fetch(transfer: transport.start(request, receiver: receiver), receiver: receiver)
}

/// A receiver that checks that each call of a transfer is allowed, once and in order.
///
/// `@unchecked Sendable`: the transport's thread alone uses the state.
private final class Receiver: TransferReceiver, @unchecked Sendable {
    private let stops: Bool
    private var pauses: Bool
    private var hasHead = false
    private var byteCount = 0
    private var isOver = false
    private let end = DispatchSemaphore(value: 0)
    private let pause = DispatchSemaphore(value: 0)

    init(stops: Bool, pauses: Bool) {
        self.stops = stops
        self.pauses = pauses
    }

    /// Waits briefly for the end, and returns whether it has been reached.
    func hasEnded() -> Bool { end.wait(timeout: .now() + .milliseconds(pauses ? 2 : 50)) == .success }

    func receive(_ head: ResponseHead) {
        precondition(!hasHead && !isOver)
        hasHead = true
        let response = head.response
        precondition(head.contentLength ?? 0 >= 0 && response.status == head.status)
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        precondition(hasHead && !isOver)
        if pauses {
            pauses = false
            return .pause
        }
        byteCount += bytes.count
        precondition(byteCount <= maximumBodyBytes)
        return stops ? .stop : .more
    }

    func finish(_ outcome: TransferOutcome) {
        precondition(!isOver)
        isOver = true
        switch outcome {
        case .complete: precondition(hasHead)
        case .stopped: precondition(stops)
        case .failed(let error): precondition(error.reason != .cancelled && !error.description.isEmpty)
        }
        end.signal()
    }
}

/// Checks that a request consists only of the expected text, and that no server or file has injected anything.
///
/// libcurl sends the values of a cookie file, which belongs to the user, including their control characters.
private func check(requestHead bytes: [UInt8], isFileTrusted: Bool = false) {
    // The request after a redirect to https is a TLS handshake.
    guard bytes.first != 0x16 else { return }
    let head = text(bytes)
    precondition(head.hasSuffix("\r\n\r\n"), head)
    let lines = head.utf8.split(separator: 0x0A).map { String($0) ?? "" }.filter { $0 != "\r" }
    // libcurl's answers to a challenge repeat text of the server.
    let ours = lines.filter { !$0.hasPrefix("Authorization: ") && !(isFileTrusted && $0.hasPrefix("Cookie: ")) }
    precondition(lines.allSatisfy { $0.utf8.last == 0x0D }, head)
    precondition(ours.allSatisfy { $0.utf8.count { $0 < 0x20 && $0 != 0x09 } == 1 }, head)
    let start = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    precondition(start.count == 3 && ["GET", "HEAD"].contains(start[0]) && start[1].hasPrefix("/"), head)
    let names = lines.dropFirst().map { String($0.prefix { $0 != ":" }) }
    let allowed = ["Host", "Accept", "User-Agent", "Cookie", "Authorization"]
    precondition(names.allSatisfy(allowed.contains) && Set(names).count == names.count, head)
}
