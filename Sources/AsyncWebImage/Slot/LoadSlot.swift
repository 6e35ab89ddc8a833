import Synchronization

/// The slot of an element of ``ImageLoader/forEach(_:maximumActive:maximumOpen:inOrder:_:)``, of which a limited number
/// is active at a time.
///
/// Set ``ImageRequest/slot`` in all requests for the element. A request then waits for the slot before its transfer
/// begins. The slot is taken until the element has been processed, but given back while a failed request waits for its
/// next attempt. Results that need no transfer, such as those from a cache, take the slot without waiting for it.
public final class LoadSlot: Sendable {
    let group: LoadGroup
    /// The number of the element, from 0.
    let number: Int
    private let hasEnded = Atomic(false)
    private let isKept = Atomic(false)

    init(_ number: Int, of group: LoadGroup) {
        (self.number, self.group) = (number, group)
    }

    /// A Boolean value that indicates whether the slot has been given up.
    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    /// Waits for the slot, and takes it until the element has been processed.
    ///
    /// Call this method before work that needs no download, such as reading a local file. Throws `CancellationError` if
    /// the task is canceled.
    public func take() async throws {
        let answer = OneShot<Void>()
        try await withTaskCancellationHandler {
            group.send(.take(self, answer))
            try await answer.value
        } onCancel: {
            answer.resolve(.failure(CancellationError()))
            group.send(.withdraw(self, answer))
        }
    }

    /// Notes that the element waits for something other than a download, so that others can begin meanwhile.
    package func waitsForOther() { group.send(.wait(self)) }

    /// Waits until all earlier elements have been processed, which a cancellation of all only hastens.
    package func awaitTurn() async {
        let answer = OneShot<Void>()
        group.awaitTurn(of: number, answer)
        _ = try? await answer.value
    }

    /// Gives up the slot before the element has been processed, because what is left of it needs little memory.
    package func release() {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { group.send(.end(self)) }
    }

    /// Takes the slot without waiting, and keeps it even while a request waits for its next attempt.
    func keep() {
        if !isKept.exchange(true, ordering: .relaxed) { group.send(.keep(self)) }
    }

    /// Gives up the slot because the element has been processed; call this method once.
    func end() {
        release()
        group.elementEnded(number)
    }
}

extension LoadSlot: Hashable {
    /// Returns whether two slots are the same one.
    public static func == (left: LoadSlot, right: LoadSlot) -> Bool { left === right }

    /// Hashes the identity of the slot.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
