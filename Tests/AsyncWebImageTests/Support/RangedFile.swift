import LoopbackOrigin

/// A file on an origin that serves ranges: whole, or the remainder from an offset if the validator still matches.
struct RangedFile: Sendable {
    var body: [UInt8]
    var tag = "\"v1\""

    func response(to request: LoopbackOrigin.Request) -> LoopbackOrigin.Response {
        guard let range = request.headerFields["Range"], range.hasPrefix("bytes="), range.hasSuffix("-"),
            let offset = Int(range.dropFirst(6).dropLast()), request.headerFields["If-Range"] == tag
        else { return .init(headerFields: ["ETag": tag], body: body) }
        return .init(
            status: 206,
            headerFields: ["ETag": tag, "Content-Range": "bytes \(offset)-\(body.count - 1)/\(body.count)"],
            body: Array(body[offset...]))
    }
}
