public import HTTPSemantics
public import HTTPTransport
import HTTPTypes

extension ResponseVersion {
    /// The version that came with a response; nil if it does not say.
    public init?(_ head: ResponseHead) {
        self.init(head.response.headerFields)
    }
}
