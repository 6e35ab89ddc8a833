import ArgumentParser

/// The options that resize images as img2dataset does.
struct ResizeOptions: ParsableArguments {
    @Option(
        help: """
            Resize as img2dataset does, so that --image-size is the length of one side: border (of the longer side; white \
            margins make a square), keep_ratio (of the shorter side), keep_ratio_largest (of the longer side), center_crop \
            (of the shorter side; the longer one is cropped to it), or no. Smaller images are enlarged.
            """)
    var resizeMode: ResizeMode?

    @Option(help: ArgumentHelp("The length of a side for --resize-mode.", valueName: "pixels"))
    var imageSize: Int?

    @Flag(help: "With --resize-mode, do not enlarge, pad, or crop images that need not be reduced.")
    var resizeOnlyIfBigger = false

    func validate() throws {
        if let mode = resizeMode?.mode {
            guard let imageSize else {
                throw ValidationError("--resize-mode \(mode.rawValue) requires --image-size.")
            }
            guard (1...65_535).contains(imageSize) else {
                throw ValidationError("--image-size must be from 1 to 65535.")
            }
        } else if imageSize != nil || resizeOnlyIfBigger {
            throw ValidationError(
                "\(imageSize != nil ? "--image-size" : "--resize-only-if-bigger") requires --resize-mode with a mode "
                    + "other than no.")
        }
    }

    /// The rule for the size of each image; `nil` for none.
    var rule: ResizeRule? {
        guard let mode = resizeMode?.mode, let imageSize else { return nil }
        return ResizeRule(mode: mode, side: imageSize, leavesSmallerImages: resizeOnlyIfBigger)
    }
}

/// A mode of `--resize-mode`, as an argument.
struct ResizeMode: ExpressibleByArgument, Equatable {
    /// The mode; `nil` for `no`.
    let mode: ResizeRule.Mode?

    static var allValueStrings: [String] { ["no"] + ResizeRule.Mode.allCases.map(\.rawValue) }

    init?(argument: String) {
        mode = ResizeRule.Mode(rawValue: argument)
        if mode == nil, argument != "no" { return nil }
    }
}
