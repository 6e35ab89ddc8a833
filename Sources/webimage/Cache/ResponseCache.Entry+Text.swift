import AsyncWebImage
import WebimageConsole

extension ResponseCache.Entry {
    /// The response as one line of text: status, size, time for which it is still fresh, and URL.
    var line: String {
        let size = "\(ByteCount(bodyByteCount))"
        let state = isPartial ? "partial" : isFresh ? "fresh \(Self.text(of: freshSeconds))" : "stale"
        return "\(response.status.code)  \(size.padded(to: 8))  \(state.padded(to: 11))  \(url.printable)"
    }

    /// The response as a line of JSON.
    var json: String {
        var object = JSONObject()
        object.add("url", url)
        object.add("status", response.status.code)
        object.add("content_type", response.headerFields[.contentType])
        object.add("etag", response.headerFields[.eTag])
        object.add("body_bytes", bodyByteCount)
        object.add("bytes", byteCount)
        object.add("partial", isPartial)
        object.add("result", isResult)
        object.add("fresh_seconds", isPartial ? nil : freshSeconds)
        object.add("received_at", receivedAt)
        return object.text
    }

    private static func text(of seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}

extension String {
    /// The text with spaces in front, at least `width` characters long.
    fileprivate func padded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
