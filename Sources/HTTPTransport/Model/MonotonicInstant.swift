// The members of `timespec` belong to whichever of the two modules the compiler loads first.
import CLinux
import Glibc

private let clockID = CLOCK_BOOTTIME

/// A point in time of the clock that `ContinuousClock` reads.
///
/// The layout of `ContinuousClock.Instant` is known at run time only, and so is that of all types that contain one:
/// accesses to them would take several percent of the time of short downloads.
struct MonotonicInstant: InstantProtocol {
    /// The time since the origin of the clock, which is the same for all instants.
    private var elapsed: Duration

    static var now: MonotonicInstant {
        var time = timespec()
        _ = unsafe clock_gettime(clockID, &time)
        return MonotonicInstant(elapsed: .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec)))
    }

    func advanced(by duration: Duration) -> MonotonicInstant { MonotonicInstant(elapsed: elapsed + duration) }

    func duration(to other: MonotonicInstant) -> Duration { other.elapsed - elapsed }

    static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool { left.elapsed < right.elapsed }

    static func + (left: MonotonicInstant, right: Duration) -> MonotonicInstant { left.advanced(by: right) }
}
