public import HTTPSemantics
public import HTTPTransport
import HTTPTypes

extension ResponseVersion {
    /// Creates the version of a response; returns `nil` if it declares none.
    public init?(_ head: ResponseHead) {
        self.init(head.response.headerFields)
    }
}
