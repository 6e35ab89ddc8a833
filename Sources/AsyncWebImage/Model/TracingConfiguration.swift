#if Tracing
public import Tracing

/// Where a loader makes spans of its downloads, by swift-distributed-tracing.
///
/// Each download is one span of kind client, from the first wish to its end, however many callers share it, waiting for a
/// slot and retries included. Its parent is the `ServiceContext` of the caller who started it, its attributes are those of
/// OpenTelemetry's conventions for HTTP; each failed try that is followed by another is an event of it. URLs come without
/// user and password, but with their query.
public struct TracingConfiguration: Sendable {
    /// What makes the spans.
    public var tracer: any Tracer
    /// A Boolean value that indicates whether the span's context is sent along in header fields, such as `traceparent`.
    ///
    /// Goes to every host, where redirects lead as well. Callers share downloads as without it.
    public var injectsContext: Bool

    /// Spans of `tracer`, the one of the process unless another is given; `InstrumentationSystem.bootstrap` has to come
    /// before.
    public init(tracer: any Tracer = InstrumentationSystem.tracer, injectsContext: Bool = false) {
        self.tracer = tracer
        self.injectsContext = injectsContext
    }
}
#endif
