import Threading

/// The end of one sequence of elements, which its reader and the tasks of the elements reach first.
final class LoadReader: Sendable {
    private let end = OneShot<Void>()
    private let waiter = Locked<OneShot<Void>?>(nil)

    /// A Boolean value that indicates whether no further element is read.
    var isEnded: Bool { end.isResolved }

    /// Sets what the reader waits for, so that its end wakes it.
    func wakes(_ waiter: OneShot<Void>) {
        self.waiter.withLock { $0 = waiter }
        if isEnded { waiter.resolve(.success(())) }
    }

    /// Ends reading because of the first error of an element, or because all have been processed.
    func finish(_ result: Result<Void, any Error>) {
        end.resolve(result)
        waiter.withLock { $0.take() }?.resolve(.success(()))
    }

    /// Waits for the end; throws the first error of an element.
    func awaitEnd() async throws { try await end.value }
}
