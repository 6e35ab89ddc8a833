import ArgumentParser
import AsyncWebImage

/// The option that limits the time that one image takes.
struct WorkOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The maximum work on one image: the number of pixels of all scans of a JPEG, or twice that of all frames of an "
                + "animation. (default: 2147483648)", valueName: "pixels"))
    var maxWork: Int?

    func validate() throws {
        if let maxWork, maxWork < 1 { throw ValidationError("--max-work must be at least 1.") }
    }

    func apply(to limits: inout DecodeLimits) {
        if let maxWork { limits.maximumWork = maxWork }
    }
}
