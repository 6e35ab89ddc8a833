import HTTPTypes

/// The header lines of the latest request, for the next one, which seldom has others.
///
/// Confined to the transport's thread.
final class HeaderLines {
    private var latest: (fields: HTTPFields, list: CurlList)?

    /// Returns `fields` as libcurl wants them.
    func list(of fields: HTTPFields) throws(CurlOptionFailure) -> CurlList {
        if let latest, latest.fields == fields { return latest.list }
        let list = try CurlList(lines(of: fields))
        latest = (fields, list)
        return list
    }

    /// What frames a request is libcurl's, and "Name:" would unset one of its own.
    private func lines(of fields: HTTPFields) -> [String] {
        fields.compactMap { field in
            switch field.name.canonicalName {
            case "host", "content-length", "transfer-encoding": nil
            default: field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            }
        }
    }
}
