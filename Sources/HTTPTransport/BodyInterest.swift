import Synchronization

/// The part of a body that is wanted, which can change while it is received: usually all of it.
package final class BodyInterest: Sendable {
    /// The number of bytes that wait for a task that wants only the beginning, at which the transfer is paused.
    package static let beginning = 16 << 10

    private let onlyBeginning = Atomic(false)

    package init() {}

    /// A Boolean value that indicates whether the body is only wanted until the properties of its file are known.
    package var isInBeginning: Bool { onlyBeginning.load(ordering: .relaxed) }

    package func set(isInBeginning: Bool) { onlyBeginning.store(isInBeginning, ordering: .relaxed) }
}
