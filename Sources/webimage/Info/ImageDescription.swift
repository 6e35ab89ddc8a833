import WebimageConsole
import AsyncWebImage

/// What `webimage info` says about one image.
struct ImageDescription: Sendable, Equatable {
    /// The URL or path as it was given; of a URL without its user name and password.
    var url: String
    var header: ImageHeader?
    /// Of an animation, how often it is shown, 0 being without end.
    var loopCount: Int?
    /// Of an animation, how long one run takes.
    var duration: Duration?
    /// Bytes that had come when the header was complete.
    var bytesRead: Int?
    /// Why the header could not be read, or nil.
    var error: String?

    init(url: String) {
        self.url = url
    }

    /// One JSON object in one line, always with the same keys.
    var json: String {
        var object = JSONObject()
        object.add("url", url)
        object.add("status", error == nil ? "ok" : "failed")
        object.add("error", error)
        object.add("format", header?.format.identifier)
        object.add("width", header?.size.width)
        object.add("height", header?.size.height)
        object.add("frames", header.flatMap(\.frameCount))
        object.add("loops", loopCount)
        object.add("duration_ms", duration.map { Int(($0 / .milliseconds(1)).rounded()) })
        object.add("orientation", header?.orientation.rawValue)
        object.add("progressive", header?.isProgressive)
        object.add("alpha", header?.hasAlpha)
        object.add("bits_per_channel", header?.bitsPerChannel)
        object.add("profile", header.flatMap(\.colorProfile))
        object.add("color_conversion", header?.colorConversion.rawValue)
        object.add("bytes_read", bytesRead)
        return object.text
    }

    /// The same for people.
    var line: String {
        guard let header, error == nil else {
            return "webimage: \(url.printable): \((error ?? "no header").printable)"
        }
        var facts = ["\(url.printable): \(header.format.identifier)", "\(header.size)"]
        if let frames = header.frameCount, frames > 1 { facts.append("\(frames) frames") }
        if let duration { facts.append("\(seconds(duration)) s") }
        if let loopCount { facts.append(loopCount == 0 ? "endless" : loopCount == 1 ? "once" : "\(loopCount) times") }
        if header.orientation != .up { facts.append("orientation \(header.orientation.rawValue)") }
        if header.isProgressive { facts.append("progressive") }
        facts.append(header.hasAlpha ? "alpha" : "opaque")
        if header.bitsPerChannel != 8 { facts.append("\(header.bitsPerChannel) bits a channel") }
        if let profile = header.colorProfile { facts.append("profile \(profile.printable)") }
        switch header.colorConversion {
        case .unneeded: break
        case .converted: facts.append("colours to be converted to sRGB")
        case .unsupported: facts.append("colours that are not supported, taken for sRGB")
        }
        return facts.joined(separator: ", ")
    }

    /// Adds what is only known of an animation's whole file.
    mutating func describe(_ animation: AnimatedImage) {
        header = animation.header
        guard animation.frameCount > 1 else { return }
        loopCount = animation.loopCount
        duration = animation.duration
    }

    /// With two decimals, none of which is a zero at the end.
    private func seconds(_ duration: Duration) -> String {
        let hundredths = Int((duration / .milliseconds(10)).rounded())
        let decimals = hundredths % 100
        let text = decimals % 10 == 0 ? "\(decimals / 10)" : decimals < 10 ? "0\(decimals)" : "\(decimals)"
        return decimals == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(text)"
    }
}
