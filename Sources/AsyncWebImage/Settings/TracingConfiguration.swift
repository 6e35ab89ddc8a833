#if Tracing
public import Tracing

/// The configuration of the spans that a loader creates with swift-distributed-tracing.
///
/// Each download is one span of the kind `client`, from the request to its end, including waits and retries, regardless
/// of the number of callers. Its parent is the `ServiceContext` of the caller that started it, its attributes follow
/// OpenTelemetry's conventions for HTTP, `webimage.wait_seconds` is the wait for the first slot, and each retried failure
/// is an event. Each decode is a child span named `decode`, from the first byte to its result; its children are `encode`, if
/// it makes a file, and `wait for memory`, if it waits for the budget. URLs are recorded without user name, password, and
/// query, unless `ImageLoader.Configuration.recordsQueries` is set.
public struct TracingConfiguration: Sendable {
    /// The tracer that creates the spans.
    public var tracer: any Tracer
    /// A Boolean value that indicates whether the span's context is sent in header fields, such as `traceparent`.
    ///
    /// It is sent to the host of every request. A redirect to another origin forwards only the fields in
    /// ``RedirectPolicy/crossOriginHeaderFields``, which do not include those of the context by default. This property
    /// does not affect which callers share a download.
    public var injectsContext: Bool

    /// Creates a configuration for `tracer`, by default that of the process; call `InstrumentationSystem.bootstrap`
    /// first.
    public init(tracer: any Tracer = InstrumentationSystem.tracer, injectsContext: Bool = false) {
        self.tracer = tracer
        self.injectsContext = injectsContext
    }
}
#endif
