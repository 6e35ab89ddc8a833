import HTTPSemantics
import HTTPTypes

/// A cache of the latest request's header lines, because the next request rarely has different ones.
///
/// Confined to the worker's thread.
final class HeaderLines {
    private var latest: (fields: HTTPFields, list: CurlList)?

    /// Returns `fields` in libcurl's format, in which "Name:" would remove one of its own.
    func list(of fields: HTTPFields) throws(CurlOptionFailure) -> CurlList {
        if let latest, latest.fields == fields { return latest.list }
        let list = try CurlList(fields.requestLines { $0.isEmpty ? Array(";".utf8) : ": ".utf8 + $0 })
        latest = (fields, list)
        return list
    }
}

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
