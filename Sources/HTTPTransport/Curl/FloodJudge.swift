/// Decides, from looks at the transport's thread now and then, which connection holds it up.
///
/// libcurl reads on while bytes arrive that belong to no response: empty HTTP/2 frames, TLS session tickets, the body of
/// a proxy's refusal. It returns, or calls back, when there are none left, which is up to the server.
struct FloodJudge {
    /// How much time of a processor one call of libcurl may take without calling back.
    ///
    /// Far more than it needs for whatever there is to be done, and time in which the thread is kept from running does
    /// not count.
    static let patience = Duration.milliseconds(40)
    /// The same for the next second of the thread's time after a connection was ended, as floods seldom come alone.
    static let patienceAfterFlood = Duration.milliseconds(4)
    /// The number of bytes that must have been read from a connection in this time for it to be the cause.
    static let leastBytes: Int64 = 64 << 10

    private struct Call {
        let number: UInt64
        let processorTime: Duration
        var bytesRead: [Int32: Int64]?
    }

    private var call: Call?
    /// The processor time of the thread up to which floods are expected.
    private var expectsFloodsUntil = Duration.zero
    /// A Boolean value that indicates whether looks have to follow one another quickly.
    private(set) var expectsFloods = false

    /// Takes another look, and returns the descriptor of the connection to end, if there is one.
    ///
    /// - Parameters:
    ///   - number: Another one for each call, and after each time that libcurl has called back; nil outside of any.
    ///   - processorTime: What the thread has used so far.
    ///   - bytesRead: Returns the number of bytes read from each connection so far.
    mutating func look(number: UInt64?, processorTime: Duration, bytesRead: () -> [Int32: Int64]) -> Int32? {
        expectsFloods = processorTime < expectsFloodsUntil
        guard let number else {
            call = nil
            return nil
        }
        guard let call, call.number == number else {
            call = Call(number: number, processorTime: processorTime)
            return nil
        }
        guard let before = call.bytesRead else {
            self.call?.bytesRead = bytesRead()
            return nil
        }
        let patience = expectsFloods ? Self.patienceAfterFlood : Self.patience
        guard processorTime - call.processorTime >= patience else { return nil }
        let growth = bytesRead().compactMap { descriptor, bytes in
            before[descriptor].map { (descriptor, bytes - $0) }
        }
        guard let most = growth.max(by: { $0.1 < $1.1 }), most.1 >= Self.leastBytes else { return nil }
        self.call = nil
        expectsFloodsUntil = processorTime + .seconds(1)
        expectsFloods = true
        return most.0
    }
}
