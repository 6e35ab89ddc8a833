import AsyncWebImage
import LoopbackOrigin
import Testing

// The order in which downloads run.
extension DownloadCoordinatorTests {
    @Test(arguments: [(DownloadConfiguration.ExecutionOrder.fifo, Array(1...14)), (.lifo, [1] + (2...14).reversed())])
    func downloadsInOneSlotFollowTheExecutionOrder(_ order: DownloadConfiguration.ExecutionOrder, expected: [Int])
        async throws
    {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            for index in 1...14 { origin.route("/\(index)", .init(body: [1]).held(at: .start, until: gate)) }
            let loader = loader(slots: 1, order)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 1...14 {
                    group.addTask { _ = try await loader.data(for: ImageRequest(origin.url("/\(index)"))) }
                    await loader.coordinator.callers(reach: index)
                }
                gate.open()
                try await group.waitForAll()
            }
            #expect(origin.recordedRequests.map(\.path) == expected.map { "/\($0)" })
        }
    }

    @Test func higherPriorityRunsFirstAndJoiningCallerRaisesPriority() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            for path in ["/busy", "/low", "/normal", "/high", "/raised"] {
                origin.route(path, .init(body: [1]).held(at: .start, until: gate))
            }
            let loader = loader(slots: 1)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let requests: [(String, DownloadPriority)] = [
                    ("/busy", .normal), ("/raised", .low), ("/low", .low), ("/normal", .normal), ("/high", .high),
                    ("/raised", .high),
                ]
                for (index, (path, priority)) in requests.enumerated() {
                    group.addTask {
                        _ = try await loader.data(for: ImageRequest(origin.url(path), priority: priority))
                    }
                    await loader.coordinator.callers(reach: index + 1)
                }
                gate.open()
                try await group.waitForAll()
            }
            #expect(origin.recordedRequests.map(\.path) == ["/busy", "/raised", "/high", "/normal", "/low"])
        }
    }

    @Test func priorityFallsWhenTheHighestCallerLeaves() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            for path in ["/busy", "/shared", "/other"] {
                origin.route(path, .init(body: [1]).held(at: .start, until: gate))
            }
            let loader = loader(slots: 1)
            var tasks: [LoadTask<ResponseBody>] = []
            let requests: [(String, DownloadPriority)] = [
                ("/busy", .normal), ("/shared", .low), ("/shared", .high), ("/other", .normal),
            ]
            for (index, (path, priority)) in requests.enumerated() {
                tasks.append(loader.dataTask(for: ImageRequest(origin.url(path), priority: priority)))
                await loader.coordinator.callers(reach: index + 1)
            }
            #expect(await loader.coordinator.activity.waitingByPriority == [.high: 1, .normal: 1])
            tasks[2].cancel()
            #expect(await loader.coordinator.activity.waitingByPriority == [.low: 1, .normal: 1])
            gate.open()
            for index in [0, 1, 3] { _ = try await tasks[index].value }
            #expect(origin.recordedRequests.map(\.path) == ["/busy", "/other", "/shared"])
        }
    }

    @Test func priorityOfAWaitingTaskCanBeChanged() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let file = try Samples.file(.png)
            for path in ["/busy", "/a", "/b"] { origin.route(path, .init(body: file).held(at: .start, until: gate)) }
            let loader = loader(slots: 1)
            var tasks: [ImageTask] = []
            for (index, path) in ["/busy", "/a", "/b"].enumerated() {
                tasks.append(loader.imageTask(for: ImageRequest(origin.url(path))))
                await loader.coordinator.callers(reach: index + 1)
            }
            tasks[2].priority = .high
            await Task { await loader.coordinator.callers(reach: 3) }.value
            gate.open()
            for task in tasks { _ = try await task.value }
            #expect(tasks[2].priority == .high)
            #expect(origin.recordedRequests.map(\.path) == ["/busy", "/b", "/a"])
        }
    }

    @Test func neverMoreDownloadsThanSlots() async throws {
        try await withLoopbackOrigin { origin in
            for index in 0..<40 { origin.route("/\(index)", .init(body: [UInt8](repeating: 1, count: 5_000))) }
            let loader = loader(slots: 3)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    group.addTask { _ = try await loader.data(for: ImageRequest(origin.url("/\(index)"))) }
                }
                try await group.waitForAll()
            }
            #expect(origin.counts.maximumRunningRequests <= 3)
            #expect(origin.counts.totalRequests == 40)
        }
    }

    @Test func instantTransportServesTwentyThousandQueuedDownloads() async throws {
        let loader = ImageLoader(transport: InstantTransport(body: [1, 2, 3]))
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for index in 0..<20_000 {
                group.addTask { try await loader.data(for: ImageRequest("http://host/\(index)")).bytes }
            }
            for try await bytes in group { #expect(bytes == [1, 2, 3]) }
        }
        await loader.coordinator.becomesIdle()
    }
}
