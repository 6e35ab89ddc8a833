/// A record of a complete shard, as far as it decides whether its line is answered again.
struct CommittedRecord: Sendable, Equatable {
    let row: Int
    /// The error code; `nil` for a success.
    let code: String?
    /// A Boolean value that indicates whether the failure concerns the image, after its download.
    let concernsImage: Bool
    let isRetryable: Bool
    let originalBytes: Int?

    /// Reads the record of a shard; returns `nil` if `line` is none.
    init?(_ line: [UInt8], keys: SampleKeys, shard: Int) {
        guard let members = JSONScanner.members(of: line) else { return nil }
        var values: [String: ArraySlice<UInt8>] = [:]
        for member in members { values[member.name] = member.value }
        guard let key = values["key"].flatMap({ JSONScanner.text(of: $0) }), let row = keys.row(of: key, shard: shard),
            let status = values["status"].flatMap({ JSONScanner.text(of: $0) })
        else { return nil }
        self.row = row
        code = values["error_code"].flatMap { JSONScanner.text(of: $0) }
        concernsImage = status == "failed_to_resize"
        isRetryable = values["retryable"]?.elementsEqual("true".utf8) == true
        originalBytes = values["original_bytes"].flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }
}
