import WebimageConsole
import AsyncWebImage
import ImageCodecs

/// The output of `webimage info` for one image.
struct ImageDescription: Sendable, Equatable {
    /// The URL or path as typed, without user name and password.
    var url: String
    var header: ImageHeader?
    /// The number of times an animation plays; 0 means forever.
    var repetitionCount: Int?
    /// The duration of one run of an animation.
    var duration: Duration?
    /// The deviations that leave no pixel missing or doubtful; `nil` if only the header has been read.
    var warnings: Set<ImageWarning>?
    /// The number of bytes read when the header was complete.
    var bytesRead: Int?
    /// The reason why the header could not be read, or `nil`.
    var failure: ImageFailure?

    init(url: String) {
        self.url = url
    }

    /// The description as a line of JSON, always with the same keys.
    var json: String {
        var object = JSONObject()
        object.add("url", url)
        object.add("status", failure == nil ? "ok" : "failed")
        object.add("error", failure?.message)
        object.add("error_code", failure?.code.rawValue)
        object.add("retryable", failure?.isRetryable)
        object.add("format", header?.format.identifier)
        object.add("width", header?.size.width)
        object.add("height", header?.size.height)
        object.add("frames", header.flatMap(\.frameCount))
        object.add("loops", repetitionCount)
        object.add("duration_ms", duration.map { Int(($0 / .milliseconds(1)).rounded()) })
        object.add("pages", header?.pageCount)
        object.addOrientation(orientation, of: header?.size)
        object.add("progressive", header?.isProgressive)
        object.add("alpha", header?.hasAlpha)
        object.add("bits_per_channel", header?.bitsPerChannel)
        object.add("profile", header.flatMap(\.colorProfile))
        object.add("color_conversion", header?.colorConversion.rawValue)
        object.add("gain_map", header?.hasGainMap)
        object.add("warnings", warnings)
        object.add("bytes_read", bytesRead)
        return object.text
    }

    /// The orientation that a decode applies; `nil` if it follows pixels that have not been read.
    private var orientation: ImageOrientation? {
        header.flatMap { $0.hasTrailingOrientation ? nil : $0.orientation }
    }

    /// The description as text.
    var line: String {
        guard let header, failure == nil else {
            return "webimage: \(url.printable): \((failure?.message ?? "no header").printable)"
        }
        var facts = ["\(url.printable): \(header.format.identifier)", "\(header.size)"]
        if let frames = header.frameCount, frames > 1 { facts.append("\(frames) frames") }
        if header.pageCount > 1 { facts.append("the first of \(header.pageCount) pages") }
        if let duration { facts.append("\(seconds(duration)) s") }
        if let count = repetitionCount { facts.append(count == 0 ? "endless" : count == 1 ? "once" : "\(count) times") }
        if let orientation {
            if orientation != .up { facts.append("orientation \(orientation.rawValue)") }
        } else {
            facts.append("unknown orientation")
        }
        if header.isProgressive { facts.append("progressive") }
        facts.append(header.hasAlpha ? "alpha" : "opaque")
        if header.bitsPerChannel != 8 { facts.append("\(header.bitsPerChannel) bits per channel") }
        if let profile = header.colorProfile { facts.append("profile \(profile.printable)") }
        switch header.colorConversion {
        case .unneeded: break
        case .converted: facts.append("colors converted to sRGB")
        case .unsupported: facts.append("unsupported color profile, treated as sRGB")
        }
        if header.hasGainMap { facts.append("gain map") }
        facts += (warnings ?? []).map(\.description).sorted().map { "warning: \($0)" }
        return facts.joined(separator: ", ")
    }

    /// Adds properties that are only known from an animation's complete file.
    mutating func describe(_ animation: AnimatedImage) {
        header = animation.header
        warnings = animation.header.warnings
        guard animation.frameCount > 1 else { return }
        repetitionCount = animation.repetitionCount
        duration = animation.duration
    }

    /// Returns the seconds with up to two decimals, without trailing zeros.
    private func seconds(_ duration: Duration) -> String {
        let hundredths = Int((duration / .milliseconds(10)).rounded())
        let decimals = hundredths % 100
        let text = decimals % 10 == 0 ? "\(decimals / 10)" : decimals < 10 ? "0\(decimals)" : "\(decimals)"
        return decimals == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(text)"
    }
}
