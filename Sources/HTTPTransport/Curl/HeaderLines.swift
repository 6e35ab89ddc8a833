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
