import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// A stored beginning of a body, and the request for its remainder (RFC 9111, sections 3.3 and 3.4).
package struct StoredPart: Sendable {
    let stored: StoredResponse
    /// A Boolean value that indicates whether the request itself is for the remainder: its sender has the beginning.
    let isRequested: Bool
    private let resumption: Resumption

    /// Creates a part; returns `nil` if the request cannot use it.
    init?(_ stored: StoredResponse, for request: TransportRequest) {
        let head = ResponseHead(response: stored.head.response, url: request.url)
        let length = stored.body.length
        guard length < request.maximumBodyBytes,
            let resumption = Resumption(head, offset: length, total: stored.head.contentLength)
        else { return nil }
        if request.isRangeContinuation {
            var fields = request.headerFields
            resumption.add(to: &fields)
            guard fields == request.headerFields else { return nil }
        }
        self.stored = stored
        self.resumption = resumption
        isRequested = request.isRangeContinuation
    }

    /// Returns the request for the remainder.
    func request(insteadOf request: TransportRequest) -> TransportRequest {
        guard !isRequested else { return request }
        var request = request
        resumption.add(to: &request.headerFields)
        return request
    }

    /// Returns the head of the whole response, given that of a response; `nil` if that does not contain exactly the
    /// remainder.
    func whole(
        with head: ResponseHead, to request: TransportRequest, requestedAt: Int, receivedAt: Int
    ) -> StoredHead? {
        guard head.status == .partialContent, !request.isRedirected(head), resumption.isContinued(by: head) else {
            return nil
        }
        let response = head.response
        var whole = stored.head.updated(
            by: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt)
        // Stored bytes are not counted by the transport.
        guard let total = resumption.total(with: head), total <= request.maximumBodyBytes else { return nil }
        whole.fields[.contentLength] = "\(total)"
        return whole
    }
}

extension TransportRequest {
    /// A Boolean value that indicates whether it requests the remainder of a known body, or everything if that has
    /// changed.
    var isRangeContinuation: Bool { headerFields[.range] != nil && headerFields[.ifRange] != nil }

    /// Returns whether a private cache may store the response, received at this time, if its body is complete.
    func allowsStoring(_ head: ResponseHead, receivedAt: Int) -> Bool {
        Storability.allows(
            method, headerFields, head.response, redirectCount: head.redirectCount - (followedRedirects ?? 0),
            receivedAt: receivedAt)
    }

    /// Returns whether the transport has followed a redirect to another URL.
    func isRedirected(_ head: ResponseHead) -> Bool { head.redirectCount > followedRedirects ?? 0 }

    /// The request for the whole body, without a range.
    var withoutRange: TransportRequest {
        guard isRangeContinuation else { return self }
        var request = self
        (request.headerFields[.range], request.headerFields[.ifRange]) = (nil, nil)
        return request
    }
}
