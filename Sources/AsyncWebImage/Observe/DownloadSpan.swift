#if Tracing
import HTTPTransport
import HTTPTypes
import Tracing

/// The span of one download, recorded from its events.
final class DownloadSpan: Sendable {
    private let configuration: TracingConfiguration
    private let span: any Span
    private let begin = ContinuousClock.now

    /// Starts the span of a download; `recordsQuery` indicates whether the query of its URL is recorded.
    init(_ configuration: TracingConfiguration, of url: HTTPURL, recordsQuery: Bool, parent: ServiceContext?) {
        self.configuration = configuration
        span = configuration.tracer.startSpan("GET", context: parent ?? .topLevel, ofKind: .client)
        span.attributes["http.request.method"] = "GET"
        span.attributes["url.full"] = url.recorded(withQuery: recordsQuery)
        guard !url.isOfSource else { return }
        span.attributes["server.address"] = url.host.withoutBrackets
        span.attributes["server.port"] = url.port
    }

    /// Adds the fields that propagate the span to the server, if configured.
    func inject(into fields: inout HTTPFields) {
        guard configuration.injectsContext else { return }
        configuration.tracer.inject(span.context, into: &fields, using: FieldInjector())
    }

    /// Starts the span of a decode of the body, which is a child of the span of the download.
    func startDecode() -> DecodeSpan {
        let tracer = configuration.tracer
        return DecodeSpan(
            tracer: tracer, span: tracer.startSpan("decode", context: span.context, ofKind: .internal))
    }

    /// Records an event; the last event ends the span.
    func note(_ event: DownloadEvent) {
        switch event.kind {
        case .queued, .progress: break
        case .started(let attempt):
            if attempt > 1 {
                span.attributes["http.request.resend_count"] = attempt - 1
            } else {
                span.attributes["webimage.wait_seconds"] = begin.duration(to: event.time) / .seconds(1)
            }
        case .response(let head):
            span.attributes["http.response.status_code"] = head.status.code
        case .retrying(let delay, let error):
            let attributes: SpanAttributes = [
                "error.type": .string(error.type), "webimage.delay_seconds": .double(delay / .seconds(1)),
            ]
            span.addEvent(SpanEvent(name: "retry", attributes: attributes))
        case .completed(.failure(is CancellationError)):
            span.addEvent("cancelled")
            span.end()
        case .completed(.failure(let error)):
            span.attributes["error.type"] = error.type
            span.setStatus(SpanStatus(code: .error, message: "\(error)"))
            span.end()
        case .completed(.success(let summary)):
            span.attributes["http.response.body.size"] = summary.byteCount
            let name = summary.metrics.protocolName
            if !name.isEmpty { span.attributes["network.protocol.version"] = String(name.dropFirst("HTTP/".count)) }
            span.end()
        }
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key) else { return }
        fields[name] = value
    }
}

extension Error {
    /// The error type: the status, if that is the reason, according to the conventions.
    fileprivate var type: String {
        (self as? ImageError)?.httpStatus.map(String.init) ?? ImageError.Code(self).rawValue
    }
}

extension String {
    /// The text of an IPv6 address without brackets.
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
#endif
