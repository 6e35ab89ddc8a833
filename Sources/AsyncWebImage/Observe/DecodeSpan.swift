#if Tracing
import Tracing

/// The span of one decode, whose parts are its children.
struct DecodeSpan: Sendable {
    /// The span of the decode that the current task runs; `nil` if it runs none, or none that is traced.
    @TaskLocal static var current: DecodeSpan?

    let tracer: any Tracer
    let span: any Span

    /// Starts the span of a part.
    func startPart(_ name: String) -> any Span {
        tracer.startSpan(name, context: span.context, ofKind: .internal)
    }

    /// Ends the span, with the error of a decode that has failed.
    func end(_ error: (any Error)?) {
        if let error { span.setStatus(SpanStatus(code: .error, message: "\(error)")) }
        span.end()
    }
}
#endif
