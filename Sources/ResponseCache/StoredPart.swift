import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// The beginning of a body that is stored, and how its rest is asked for (RFC 9111, sections 3.3 and 3.4).
package struct StoredPart: Sendable {
    private(set) var stored: StoredResponse
    /// Whether the request itself asks for the rest: whoever sent it has the beginning.
    let isRequested: Bool
    private let resumption: Resumption

    /// Nil if the request has no use for it.
    init?(_ stored: StoredResponse, for request: TransportRequest) {
        let head = ResponseHead(response: stored.head.response, url: request.url)
        let length = stored.body.length
        guard length < request.bodyLimit,
            let resumption = Resumption(head, offset: length, total: stored.head.contentLength)
        else { return nil }
        if request.asksForRest {
            var fields = request.headerFields
            resumption.add(to: &fields)
            guard fields == request.headerFields else { return nil }
        }
        self.stored = stored
        self.resumption = resumption
        isRequested = request.asksForRest
    }

    /// The same with the body open, or closed.
    func replacing(_ stored: StoredResponse) -> StoredPart {
        var part = self
        part.stored = stored
        return part
    }

    /// The request for the rest.
    func request(insteadOf request: TransportRequest) -> TransportRequest {
        guard !isRequested else { return request }
        var request = request
        resumption.add(to: &request.headerFields)
        return request
    }

    /// The head of the whole response, given that of an answer; nil if that does not have the rest, and all of it.
    func whole(
        with head: ResponseHead, to request: TransportRequest, requestedAt: Int, receivedAt: Int
    ) -> StoredHead? {
        guard head.status == .partialContent, head.redirectCount == 0, resumption.isContinued(by: head) else {
            return nil
        }
        let response = head.response
        var whole = stored.head.renewed(
            by: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt)
        // Nobody counts the stored bytes with those that come.
        guard let total = resumption.total(with: head), total <= request.bodyLimit else { return nil }
        whole.fields[.contentLength] = "\(total)"
        return whole
    }
}

extension TransportRequest {
    /// Whether it asks for the rest of what the sender has, or everything if that has changed.
    var asksForRest: Bool { headerFields[.range] != nil && headerFields[.ifRange] != nil }

    /// Whether a private cache may keep the response, its body provided.
    func allowsStoring(_ head: ResponseHead) -> Bool {
        Storability.allows(method, headerFields, head.response, redirectCount: head.redirectCount)
    }

    /// The same for everything, whatever the sender has.
    var forEverything: TransportRequest {
        guard asksForRest else { return self }
        var request = self
        (request.headerFields[.range], request.headerFields[.ifRange]) = (nil, nil)
        return request
    }
}
