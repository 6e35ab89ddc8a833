import TestSupport
import Testing
import Threading

@Suite(.timeLimit(.minutes(1)))
struct FairSemaphoreTests {
    @Test func amountIsAvailableUpToTheLimit() {
        let semaphore = FairSemaphore(limit: 10)
        #expect(semaphore.tryAcquire(6) && !semaphore.tryAcquire(5) && semaphore.tryAcquire(4))
        semaphore.release(6)
        #expect(semaphore.tryAcquire(6))
    }

    @Test func moreThanTheLimitIsAvailableWhenNothingIsInUse() {
        let semaphore = FairSemaphore(limit: 10)
        #expect(semaphore.tryAcquire(100) && !semaphore.tryAcquire(1))
        semaphore.release(100)
        #expect(semaphore.tryAcquire(1))
    }

    @Test func waitingTasksAreServedInOrder() async {
        let semaphore = FairSemaphore(limit: 10)
        #expect(semaphore.tryAcquire(10))
        let order = Locked<[Int]>([])
        await withTaskGroup { tasks in
            for (index, count) in [8, 1, 5].enumerated() {
                tasks.addImmediateTask {
                    await semaphore.acquire(count)
                    order.withLock { $0.append(index) }
                    semaphore.release(count)
                }
            }
            // The first one needs more than what is free.
            semaphore.release(5)
            #expect(!semaphore.tryAcquire(1))
            semaphore.release(5)
        }
        #expect(order.withLock { $0 }.count == 3 && order.withLock { $0 }.first == 0)
        #expect(semaphore.tryAcquire(10))
    }

    @Test func canceledTaskNoLongerWaits() async {
        let semaphore = FairSemaphore(limit: 1)
        #expect(semaphore.tryAcquire())
        await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addImmediateTask { try await semaphore.acquireUnlessCanceled() }
            tasks.cancelAll()
            await #expect(throws: CancellationError.self) { try await tasks.next() }
        }
        semaphore.release()
        #expect(semaphore.tryAcquire())
    }

    @Test func tasksBehindACanceledOneAreServed() async {
        let semaphore = FairSemaphore(limit: 10)
        #expect(semaphore.tryAcquire(8))
        let large = Task.immediate { try await semaphore.acquireUnlessCanceled(5) }
        let small = Task.immediate { await semaphore.acquire(2) }
        large.cancel()
        await small.value
        semaphore.release(10)
        #expect(semaphore.tryAcquire(10))
    }

    @Test func taskThatIsCanceledBeforeItWaitsDoesNotWait() async {
        let semaphore = FairSemaphore(limit: 1)
        #expect(semaphore.tryAcquire())
        let task = Task {
            withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await semaphore.acquireUnlessCanceled()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
