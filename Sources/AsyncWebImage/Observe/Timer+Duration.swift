import CoreMetrics

extension Timer {
    func record(_ duration: Duration) {
        recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
