/// The order of downloads with the same priority.
public enum ExecutionOrder: Sendable, Hashable {
    /// First in, first out.
    case fifo
    /// Last in, first out: a stack.
    case lifo
}
