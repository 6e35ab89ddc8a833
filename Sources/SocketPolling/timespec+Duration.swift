package import Glibc

extension timespec {
    /// Creates a time from `duration`, rounded up to nanoseconds and limited to 0 to one million seconds.
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(1_000_000)).components
        self.init(tv_sec: Int(seconds), tv_nsec: Int((attoseconds + 999_999_999) / 1_000_000_000))
        carry()
    }

    static func += (left: inout timespec, right: timespec) {
        left.tv_sec += right.tv_sec
        left.tv_nsec += right.tv_nsec
        left.carry()
    }

    private mutating func carry() {
        guard tv_nsec >= 1_000_000_000 else { return }
        tv_sec += 1
        tv_nsec -= 1_000_000_000
    }
}
