import HTTPTypes

/// A content coding that is decoded (RFC 9110, section 8.4.1).
enum ContentCoding {
    case gzip
    case deflate

    /// The maximum number of codings of one body that are decoded; a body with more is delivered as it is.
    static let maximumCount = 2

    /// Returns the codings of the body of a response, in the order in which they were applied.
    ///
    /// Others, such as `identity`, or `aws-chunked`, which servers have removed, are ignored.
    static func codings(of response: HTTPResponse) -> [ContentCoding] {
        let names = response.headerFields[values: .contentEncoding].flatMap { $0.split(separator: ",") }
        let codings = names.compactMap { Self($0.filter { $0 != " " && $0 != "\t" }.lowercased()) }
        return codings.count <= maximumCount ? codings : []
    }

    private init?(_ name: String) {
        switch name {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }

    /// The formats of the coding, the most likely one first.
    var formats: [Inflater.Format] {
        switch self {
        case .gzip: [.gzip]
        // Some servers leave the header of zlib out.
        case .deflate: [.zlib, .deflate]
        }
    }
}
