import WebimageConsole

/// What became of one URL.
struct Outcome: Sendable, Equatable {
    /// The URL or path as it was given; of a URL without its user name and password.
    var url: String
    /// Why it failed, or nil.
    var error: String?
    var httpStatus: Int?
    /// The format of the source, as a word in lower case.
    var format: String?
    var width: Int?
    var height: Int?
    var originalWidth: Int?
    var originalHeight: Int?
    var frames: Int?
    /// A Boolean value that indicates whether something of the image is missing.
    var isPartial = false
    /// The bytes written.
    var bytes: Int?
    /// The file written.
    var path: String?
    /// Where the bytes came from: `network`, `disk`, `revalidated`, `joined` or `file`.
    var source: String?
    var milliseconds: Int

    init(url: String, milliseconds: Int = 0) {
        self.url = url
        self.milliseconds = milliseconds
    }

    var isSuccess: Bool { error == nil }

    /// One JSON object in one line, always with the same keys.
    var json: String {
        var object = JSONObject()
        object.add("url", url)
        object.add("status", !isSuccess ? "failed" : isPartial ? "partial" : "ok")
        object.add("error", error)
        object.add("http_status", httpStatus)
        object.add("format", format)
        object.add("width", width)
        object.add("height", height)
        object.add("original_width", originalWidth)
        object.add("original_height", originalHeight)
        object.add("frames", frames)
        object.add("bytes", bytes)
        object.add("path", path)
        object.add("source", source)
        object.add("ms", milliseconds)
        return object.text
    }

    /// The same for people: of a success what was written, of a failure what and why.
    var line: String {
        if let error { return "webimage: \(url.printable): \(error.printable)" }
        let size = width.flatMap { width in height.map { "\(width)x\($0)" } }
        return [
            path?.printable, size, format, bytes.map { ByteCount($0).description }, isPartial ? "partial" : nil,
        ]
        .compactMap(\.self).joined(separator: "  ")
    }
}
