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
        guard let members = JSONMembers(line), let key = members.text("key"), let row = keys.row(of: key, shard: shard),
            let status = members.text("status")
        else { return nil }
        self.row = row
        code = members.text("error_code")
        concernsImage = status == "failed_to_resize"
        isRetryable = members["retryable"]?.elementsEqual("true".utf8) == true
        originalBytes = members.number("original_bytes")
    }
}
