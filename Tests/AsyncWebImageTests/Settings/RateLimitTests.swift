import Testing

@testable import AsyncWebImage

struct RateLimitTests {
    @Test func rateLimitRefillsOneStartAtATime() {
        let limit = RateLimit(requestsPerSecond: 4, burst: 2)
        var bucket = TokenBucket()
        var starts: [Duration] = []
        var time = Duration.zero
        for _ in 0..<5 {
            time = max(time, bucket.nextStart(limit))
            starts.append(time)
            bucket.take(at: time, limit)
        }
        #expect(starts == [0, 0, 250, 500, 750].map { .milliseconds($0) })
        #expect(!bucket.isFull(at: .milliseconds(1_249)) && bucket.isFull(at: .milliseconds(1_250)))
    }

    @Test func rateLimitSavesAtMostTheBurst() {
        let limit = RateLimit(requestsPerSecond: 1, burst: 2)
        var bucket = TokenBucket()
        let hour = Duration.seconds(3_600)
        bucket.take(at: hour, limit)
        bucket.take(at: hour, limit)
        #expect(bucket.nextStart(limit) == hour + .seconds(1))
    }

    @Test(arguments: [0, -1, .nan, -.infinity, 1e-300])
    func invalidRateIsClampedToOnePerHour(_ rate: Double) {
        let limit = RateLimit(requestsPerSecond: rate, burst: .min)
        #expect(limit.burst == 1)
        #expect(abs(limit.interval / .seconds(3_600) - 1) < 1e-9)
    }

    @Test func infiniteRateIsNoLimit() {
        let limit = RateLimit(requestsPerSecond: .infinity, burst: .max)
        var bucket = TokenBucket()
        for _ in 0..<1_000 { bucket.take(at: .zero, limit) }
        #expect(bucket.nextStart(limit) == .zero)
    }
}
