/// In which order downloads of one priority run.
public enum ExecutionOrder: Sendable, Hashable {
    /// First come, first served.
    case fifo
    /// Last come, first served: a stack.
    case lifo
}
