import AsyncWebImage
import Hashing

/// The answer to one line of a list.
struct BatchRecord: Sendable {
    /// The columns that a record has at its destination.
    struct Columns: Sendable, Equatable {
        /// A Boolean value that indicates whether the columns of the list are passed on.
        var passesOn = false
        var hasCaption = false
        var hasKey = false
        var hasExif = false
        /// The digest of the body; `nil` for none.
        var digest: DigestAlgorithm?
        /// The hashes of the pixels.
        var hashes: [PixelHash] = []
        /// A Boolean value that indicates whether columns are included that differ from run to run, such as times.
        var hasRunDetails = true
    }

    let entry: ListEntry
    /// The name of the sample in its shard.
    var key: String?
    /// The reason of the failure, or `nil`.
    var failure: ImageFailure?
    var image = ImageFacts()
    /// The Exif data of the source, as the text of a JSON object; `nil` if it has none.
    var exif: String?
    /// The digest of the body, in hexadecimal digits.
    var digest: String?
    /// The number of bytes written.
    var bytes: Int?
    /// The number of bytes received.
    var originalBytes: Int?
    var httpStatus: Int?
    /// The URL that responded, if there was a redirect.
    var finalURL: String?
    var contentType: String?
    var etag: String?
    var lastModified: String?
    /// The origin of the bytes: `network`, `disk`, `revalidated`, or `joined`.
    var source: String?
    var milliseconds = 0
    /// The number of requests, including retries.
    var attempts: Int?

    init(entry: ListEntry) {
        self.entry = entry
    }

    /// The status, in the words of img2dataset.
    var status: String {
        guard let failure else { return "success" }
        return failure.concernsImage ? "failed_to_resize" : "failed_to_download"
    }

    /// The names of all members that records can have, apart from columns of the list and hashes of pixels.
    static let memberNames: Set<String> = {
        let record = BatchRecord(entry: ListEntry(index: 0, line: RawLine()))
        let objects = DigestAlgorithm.allCases.map { digest in
            record.object(Columns(hasCaption: true, hasKey: true, hasExif: true, digest: digest))
        }
        return Set(objects.flatMap { JSONScanner.members(of: $0.bytes) ?? [] }.map(\.name))
    }()

    /// Returns the record as a JSON object, whose members do not depend on the outcome.
    func object(_ columns: Columns) -> JSONObject {
        var object = JSONObject()
        if columns.passesOn { for column in entry.passedOn { object.add(rawKey: column.name, column.value) } }
        object.add("id", raw: entry.id)
        object.add("index", entry.index)
        object.add("url", entry.writtenURL)
        if columns.hasCaption { object.add("caption", entry.caption) }
        if columns.hasKey { object.add("key", key) }
        object.add("status", status)
        object.add("error_message", failure?.message)
        object.add("error_code", failure?.code.rawValue)
        object.add("retryable", failure?.isRetryable)
        object.add("width", failure == nil ? image.size?.width : nil)
        object.add("height", failure == nil ? image.size?.height : nil)
        object.add("original_width", image.originalSize?.width)
        object.add("original_height", image.originalSize?.height)
        object.add(storedSize: image.storedSize, orientation: image.orientation)
        if columns.hasExif { object.add("exif", failure == nil ? exif : nil) }
        if let digest = columns.digest { object.add(digest.rawValue, self.digest) }
        for hash in columns.hashes { object.add(hash.rawValue, raw: failure == nil ? image.hashes[hash] : nil) }
        object.add("format", image.format)
        object.add("frames", image.frames)
        object.add("partial", image.isPartial)
        object.add("warnings", failure == nil ? image.warnings : nil)
        object.add("gain_map", failure == nil ? image.gainMap : nil)
        object.add("bytes", bytes)
        object.add("original_bytes", originalBytes)
        guard columns.hasRunDetails else { return object }
        object.add("http_status", httpStatus)
        object.add("final_url", finalURL)
        object.add("content_type", contentType)
        object.add("etag", etag)
        object.add("last_modified", lastModified)
        object.add("attempts", attempts)
        object.add("ms", milliseconds)
        object.add("source", source)
        return object
    }
}

extension BatchRecord {
    /// Adds what the head of the response says.
    mutating func describe(_ head: ResponseHead) {
        let response = head.response
        httpStatus = response.status.code
        if head.redirectCount > 0 { finalURL = head.url.string }
        contentType = response.headerFields[.contentType]
        etag = response.headerFields[.eTag]
        lastModified = response.headerFields[.lastModified]
    }
}
