import AllocationCounter
import Glibc
import Testing

@testable import Scenarios

@Suite(.timeLimit(.minutes(1))) struct ResourcesTests {
    @Test func everyFunctionThatAllocatesIsCountedOnce() async {
        // In a process of its own, because other tests allocate.
        await #expect(processExitsWith: .success) {
            func allocations(_ allocate: () -> UnsafeMutableRawPointer?) -> Int {
                var memory: [UnsafeMutableRawPointer?] = []
                memory.reserveCapacity(100)
                let before = allocation_counter_count()
                for _ in 0..<100 { unsafe memory.append(allocate()) }
                let count = allocation_counter_count() - before
                for pointer in unsafe memory { unsafe free(pointer) }
                return Int(count)
            }
            #expect(unsafe allocations { unsafe malloc(10) } == 0)
            allocation_counter_start()
            #expect(unsafe allocations { unsafe malloc(10) } == 100)
            #expect(unsafe allocations { unsafe calloc(2, 5) } == 100)
            #expect(unsafe allocations { unsafe realloc(nil, 10) } == 100)
            #expect(unsafe allocations { unsafe aligned_alloc(64, 64) } == 100)
            let aligned = unsafe allocations {
                var memory: UnsafeMutableRawPointer?
                _ = unsafe posix_memalign(&memory, 64, 10)
                return unsafe memory
            }
            #expect(aligned == 100)
        }
    }

    @Test func alignmentThatIsNoPowerOfTwoIsRefused() {
        var memory: UnsafeMutableRawPointer?
        #expect(unsafe posix_memalign(&memory, 24, 10) == EINVAL)
        #expect(unsafe posix_memalign(&memory, 2, 10) == EINVAL)
    }

    @Test(arguments: ["actor", "curl-multi"]) func resourcesOfRequestsAreMeasured(engine: String) async throws {
        try await withOrigin(bodies: [10_240]) { origin, loopback in
            let subject = Resources.Case(
                engine: engine, concurrency: 2, bodyBytes: 10_240, maximumSide: 0, count: 20)
            let measurements = try await withTemporaryFolder { path in
                let site = OriginSite(origin: origin, fixtures: try FixtureFolder(path: path))
                return try await Resources.measure(subject, at: site)
            }
            #expect((measurements[.allocations] ?? 0) > 1)
            #expect(measurements[.pageFaults] != nil)
            #expect((measurements[.contextSwitches] ?? 0) > 0)
        }
    }

    @Test(arguments: ["decoder", "libjpeg"]) func resourcesOfDecodesAreMeasured(engine: String) async throws {
        try await withOrigin(bodies: []) { origin, _ in
            try await withTemporaryFolder { path in
                let subject = Resources.Case(engine: engine, concurrency: 0, bodyBytes: 0, maximumSide: 64, count: 3)
                let site = OriginSite(origin: origin, fixtures: try FixtureFolder(path: path))
                #expect((try await Resources.measure(subject, at: site)[.allocations] ?? 0) > 1)
            }
        }
    }

    @Test func unknownDecoderIsAnError() async throws {
        try await withOrigin(bodies: []) { origin, _ in
            try await withTemporaryFolder { path in
                let subject = Resources.Case(engine: "none", concurrency: 0, bodyBytes: 0, maximumSide: 64, count: 3)
                let site = OriginSite(origin: origin, fixtures: try FixtureFolder(path: path))
                await #expect(throws: Unable.self) { try await Resources.measure(subject, at: site) }
            }
        }
    }
}
