import HTTPSemantics
import HTTPTypes

extension HTTPFields {
    /// The fields that a request may contain, each as its name and the result of `value` for its value.
    ///
    /// Excludes fields that frame a request, which are those of the transport.
    func requestLines(_ value: ([UInt8]) -> [UInt8]) -> [[UInt8]] {
        compactMap { field in
            switch field.name.canonicalName {
            case "host", "content-length", "transfer-encoding": nil
            default: field.name.rawName.utf8 + value(field.bytes)
            }
        }
    }
}
