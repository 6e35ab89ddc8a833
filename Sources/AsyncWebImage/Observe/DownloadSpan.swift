#if Tracing
import HTTPTransport
import HTTPTypes
import Tracing

/// The span of one download, by its events.
final class DownloadSpan: Sendable {
    private let configuration: TracingConfiguration
    private let span: any Span

    init(_ configuration: TracingConfiguration, of url: HTTPURL, parent: ServiceContext?) {
        self.configuration = configuration
        span = configuration.tracer.startSpan("GET", context: parent ?? .topLevel, ofKind: .client)
        span.attributes["http.request.method"] = "GET"
        span.attributes["url.full"] = url.string
        span.attributes["server.address"] = url.host.withoutBrackets
        span.attributes["server.port"] = url.port
    }

    /// Adds what tells the server of the span, if it is to know.
    func inject(into fields: inout HTTPFields) {
        guard configuration.injectsContext else { return }
        configuration.tracer.inject(span.context, into: &fields, using: FieldInjector())
    }

    /// The last event ends the span.
    func note(_ event: DownloadEvent) {
        switch event.kind {
        case .queued, .progress, .stopped(nil): break
        case .started(let attempt):
            if attempt > 1 { span.attributes["http.request.resend_count"] = attempt - 1 }
        case .response(let head):
            span.attributes["http.response.status_code"] = head.status.code
        case .retrying(let delay, let error):
            let attributes: SpanAttributes = [
                "error.type": .string(error.type), "webimage.delay_seconds": .double(delay / .seconds(1)),
            ]
            span.addEvent(SpanEvent(name: "retry", attributes: attributes))
        case .stopped(.some(is CancellationError)):
            span.addEvent("cancelled")
            span.end()
        case .stopped(let error?):
            span.attributes["error.type"] = error.type
            span.setStatus(SpanStatus(code: .error, message: "\(error)"))
            span.end()
        case .finished(let byteCount, let metrics):
            span.attributes["http.response.body.size"] = byteCount
            if !metrics.protocolName.isEmpty {
                span.attributes["network.protocol.version"] = String(metrics.protocolName.dropFirst("HTTP/".count))
            }
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
    /// The status if that is what is wrong, as the conventions ask for.
    fileprivate var type: String {
        (self as? ImageError)?.httpStatus.map(String.init) ?? FailureKind(self).rawValue
    }
}

extension String {
    /// An IPv6 address as such.
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
#endif
