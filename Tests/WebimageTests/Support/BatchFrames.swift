import Foundation
import Testing

/// The output of `webimage batch --stream frames`, as a program reads it.
struct BatchFrames {
    /// A record and the file of its image.
    struct Frame {
        let object: [String: Any]
        /// The line as written, for details that a JSON parser does not preserve.
        let line: String
        let file: [UInt8]

        var id: String { "\(object["id"] ?? "")" }
        var code: String? { object["error_code"] as? String }
        var status: String? { object["status"] as? String }
    }

    private(set) var start: [String: Any]?
    private(set) var frames: [Frame] = []
    /// The last line; nil if the stream was cut off.
    private(set) var end: [String: Any]?

    init(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(rest[..<newline])
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            rest = rest[(newline + 1)...]
            if object["start"] != nil {
                start = object
            } else if object["end"] != nil {
                end = object
            } else {
                let count = try #require(object["payload"] as? Int)
                try #require(rest.count >= count)
                frames.append(
                    Frame(
                        object: object, line: String(decoding: line, as: UTF8.self), file: Array(rest.prefix(count))))
                rest = rest.dropFirst(count)
            }
        }
        #expect(rest.isEmpty)
    }
}
