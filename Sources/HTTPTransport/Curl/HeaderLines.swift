import HTTPTypes

/// A cache of the latest request's header lines, because the next request rarely has different ones.
///
/// Confined to the worker's thread.
final class HeaderLines {
    private var latest: (fields: HTTPFields, list: CurlList)?

    /// Returns `fields` in libcurl's format.
    func list(of fields: HTTPFields) throws(CurlOptionFailure) -> CurlList {
        if let latest, latest.fields == fields { return latest.list }
        let list = try CurlList(lines(of: fields))
        latest = (fields, list)
        return list
    }

    /// Excludes fields that frame a request, which are libcurl's, and "Name:", which would remove one of its own.
    private func lines(of fields: HTTPFields) -> [String] {
        fields.compactMap { field in
            switch field.name.canonicalName {
            case "host", "content-length", "transfer-encoding": nil
            default: field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            }
        }
    }
}
