/// The end of a coordinator, from the first call that asks for it on.
struct Shutdown {
    /// Tells all who wait that nothing is going on any more.
    let done = OneShot<Void>()
    /// When the time to finish is over; nil as long as nobody has said.
    private var end: Stopwatch.Instant?
    /// Nil when nothing is going on any more.
    private var alarm: Alarm<Stopwatch>?

    /// `graceEnded` is called when the time to finish is over.
    init(clock: any Clock<Duration>, graceEnded: @escaping @Sendable () -> Void) {
        alarm = Alarm(clock: Stopwatch(clock), call: graceEnded)
    }

    /// Leaves so much time from now, or what is left of less.
    mutating func limitGrace(to period: Duration) {
        guard let alarm else { return }
        let new = alarm.now.advanced(by: min(period, Stopwatch.longest))
        guard end.map({ new < $0 }) ?? true else { return }
        end = new
        alarm.set(new)
    }

    /// Nothing is going on any more.
    mutating func finish() {
        alarm = nil
        done.resolve(.success(()))
    }
}
