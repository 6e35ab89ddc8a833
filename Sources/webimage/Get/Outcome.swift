import AsyncWebImage
import WebimageConsole

/// The result for one image.
struct Outcome: Sendable, Equatable {
    /// The URL or path as typed, without user name and password.
    var url: String
    /// The reason of the failure, or `nil`.
    var failure: ImageFailure?
    /// The reason why there are no further previews, or `nil`; the image itself is not affected.
    var previewError: String?
    /// The error that ends the run after this result has been displayed, or `nil`.
    var runEnd: FileError?
    /// The status of the response, which can be a stored one.
    var httpStatus: Int?
    var image = ImageFacts()
    /// The format of the file written, as a lowercase word.
    var outputFormat: String?
    /// The number of bytes written.
    var bytes: Int?
    /// The path of the file written.
    var path: String?
    /// The origin of the bytes: `network`, `disk`, `revalidated`, `joined`, or `file`.
    var source: String?
    var milliseconds: Int

    init(url: String, milliseconds: Int = 0) {
        self.url = url
        self.milliseconds = milliseconds
    }

    var isSuccess: Bool { failure == nil }

    /// Adds the origin of the bytes, and the status of their response.
    mutating func describe(_ pieces: any ImagePieces) {
        source = pieces.source
        httpStatus = pieces.head?.response.status.code
    }

    /// The reason of the failure as a sentence, or `nil`.
    var error: String? { failure?.message }

    /// The outcome as a line of JSON, always with the same keys.
    var json: String {
        var object = JSONObject()
        object.add("url", url)
        object.add("status", !isSuccess ? "failed" : image.isPartial ? "partial" : "ok")
        object.add("error", error)
        object.add("error_code", failure?.code.rawValue)
        object.add("retryable", failure?.isRetryable)
        object.add("http_status", httpStatus)
        object.add("format", image.format)
        object.add("width", isSuccess ? image.size?.width : nil)
        object.add("height", isSuccess ? image.size?.height : nil)
        object.add("original_width", image.originalSize?.width)
        object.add("original_height", image.originalSize?.height)
        object.add(storedSize: image.storedSize, orientation: image.orientation)
        object.add("frames", image.frames)
        object.add("warnings", isSuccess ? image.warnings : nil)
        object.add("gain_map", isSuccess ? image.gainMap : nil)
        object.add("output_format", outputFormat)
        object.add("bytes", bytes)
        object.add("path", path)
        object.add("source", source)
        object.add("preview_error", previewError)
        object.add("ms", milliseconds)
        return object.text
    }

    /// The outcome as text: the file written, or the URL and the reason of the failure.
    var line: String {
        if let error { return "webimage: \(url.printable): \(error.printable)" }
        let size = image.size.map { "\($0.width)x\($0.height)" }
        let facts = [
            path?.printable, size, outputFormat, bytes.map { ByteCount($0).description },
            image.isPartial ? "partial" : nil, image.gainMap == "dropped" ? "gain map dropped" : nil,
        ]
        let warnings = (image.warnings ?? []).map(\.description).sorted().map { "warning: \($0)" }
        return (facts.compactMap(\.self) + warnings).joined(separator: "  ")
    }

    /// The reason why there are no further previews as text; `nil` if none failed.
    var previewLine: String? {
        previewError.map { "webimage: \(url.printable): no further previews: \($0.printable)" }
    }
}
