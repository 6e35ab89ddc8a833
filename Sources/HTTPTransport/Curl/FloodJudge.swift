/// Determines which connection blocks the worker's thread, from periodic samples.
///
/// libcurl keeps reading while bytes arrive that belong to no response: TLS session tickets, the body of a proxy's
/// refusal. It returns or calls back only when there are none left, which the server controls.
struct FloodJudge {
    /// The maximum processor time that one call of libcurl may take without calling back.
    ///
    /// Far more than it needs for any regular work; time in which the thread is not scheduled does not count.
    static let maximumCallTime = Duration.milliseconds(40)
    /// The same limit for the next second of the thread's time after a connection was ended, because floods are often
    /// repeated.
    static let maximumCallTimeAfterFlood = Duration.milliseconds(4)
    /// The minimum number of bytes read from a connection during a call for the connection to be considered the cause
    /// of the call's length.
    static let minimumBytes: Int64 = 64 << 10

    private struct Call {
        let number: UInt64
        let processorTime: Duration
        var bytesRead: [Int32: Int64]?
    }

    private var call: Call?
    /// The processor time of the thread until which more floods are expected.
    private var expectsFloodsUntil = Duration.zero
    /// A Boolean value that indicates whether samples must be frequent.
    private(set) var needsFrequentSampling = false

    /// Evaluates another sample; returns the descriptor of the connection to end, if there is one.
    ///
    /// - Parameters:
    /// - number: The number of the current call, which changes with each call and callback; `nil` outside of any.
    /// - processorTime: The processor time used by the thread so far.
    /// - bytesRead: Returns the number of bytes read from each connection so far.
    mutating func look(number: UInt64?, processorTime: Duration, bytesRead: () -> [Int32: Int64]) -> Int32? {
        needsFrequentSampling = processorTime < expectsFloodsUntil
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
        let limit = needsFrequentSampling ? Self.maximumCallTimeAfterFlood : Self.maximumCallTime
        guard processorTime - call.processorTime >= limit else { return nil }
        let growth = bytesRead().compactMap { descriptor, bytes in
            before[descriptor].map { (descriptor, bytes - $0) }
        }
        guard let largest = growth.max(by: { $0.1 < $1.1 }), largest.1 >= Self.minimumBytes else { return nil }
        self.call = nil
        expectsFloodsUntil = processorTime + .seconds(1)
        needsFrequentSampling = true
        return largest.0
    }
}
