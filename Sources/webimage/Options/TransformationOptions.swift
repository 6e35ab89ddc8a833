public import ArgumentParser
import AsyncWebImage
import ImageCodecs
public import ImageProcessing
import WebimageConsole

/// The options that change the pixels of images, in the order in which the changes are made.
struct TransformationOptions: ParsableArguments {
    @Flag(
        help: """
            Remove borders that have nearly the color of the upper left pixel. Changes are made in the order of these \
            options, after shrinking.
            """)
    var trim = false

    @Option(
        help: ArgumentHelp(
            "Cut out a rectangle in pixels, such as 300x200+10+20, or the largest part with an aspect ratio, such as 16:9.",
            valueName: "part"))
    var crop: CropArgument?

    @Option(
        help: ArgumentHelp(
            """
            The point of the image that --crop with an aspect ratio keeps, and where --overlay is placed: center, top, \
            bottom, left, right, topleft, topright, bottomleft, bottomright, or numbers from 0 to 1, such as 0.5,0.3. For \
            --crop, smart keeps edges and colors. (default: center)
            """, valueName: "point"))
    var gravity: GravityArgument?

    @Option(help: ArgumentHelp("Rotate clockwise by 90, 180, or 270 degrees.", valueName: "degrees"))
    var rotate: Int?

    @Option(
        help: ArgumentHelp("Mirror: horizontal exchanges left and right, vertical top and bottom.", valueName: "axis"))
    var flip: ImageTransformation.Axis?

    @Flag(help: "Replace colors by shades of gray.")
    var grayscale = false

    @Option(help: ArgumentHelp("Blur with this standard deviation in pixels.", valueName: "sigma"))
    var blur: Double?

    @Option(
        help: ArgumentHelp("Sharpen details of about this size in pixels; 0.5 to 2 are usual.", valueName: "sigma"))
    var sharpen: Double?

    @Option(
        help: ArgumentHelp("Put the image of this file in front, at --gravity.", valueName: "file"),
        transform: OverlayImage.init)
    var overlay: OverlayImage?

    @Option(
        help: ArgumentHelp(
            "Round the corners with this radius in pixels, or cut out a circle.", valueName: "radius|circle"))
    var rounded: RoundedArgument?

    @Option(
        help: ArgumentHelp("Put the image in front of a color, such as ff8000, white, or black.", valueName: "color"))
    var background: ColorArgument?

    func validate() throws {
        if let gravity {
            guard crop?.isShape == true || overlay != nil else {
                throw ValidationError("--gravity applies to --overlay, and to --crop with an aspect ratio.")
            }
            guard gravity.position != nil || crop?.isShape == true else {
                throw ValidationError("--gravity smart applies to --crop with an aspect ratio.")
            }
        }
        // Only what is wrong for images of every size.
        for transformation in [rotation, blurring, sharpening].compactMap(\.self) {
            do throws(CodecError) {
                _ = try transformation.outputSize(for: PixelSize(width: 1, height: 1))
            } catch {
                guard case .transformationFailed(let name, let reason) = error else { continue }
                throw ValidationError("--\(name): \(reason).")
            }
        }
    }

    private var rotation: ImageTransformation? { rotate.map { .rotate(degrees: $0) } }
    private var blurring: ImageTransformation? { blur.map { .blur(sigma: $0) } }
    private var sharpening: ImageTransformation? { sharpen.map { .sharpen(sigma: $0) } }

    /// An option that was used; `nil` if none was.
    var usedOption: String? {
        let options: [(Bool, String)] = [
            (trim, "--trim"), (crop != nil, "--crop"), (rotate != nil, "--rotate"), (flip != nil, "--flip"),
            (grayscale, "--grayscale"), (blur != nil, "--blur"), (sharpen != nil, "--sharpen"),
            (overlay != nil, "--overlay"), (rounded != nil, "--rounded"), (background != nil, "--background"),
        ]
        return options.first { $0.0 }?.1
    }

    /// The changes, in order.
    var transformations: [ImageTransformation] {
        let position = gravity?.position ?? .center
        let steps: [ImageTransformation?] = [
            trim ? .trim() : nil, crop?.transformation(gravity), rotation, flip.map { .flip($0) },
            grayscale ? .grayscale : nil, blurring, sharpening,
            overlay.map { .overlay($0.pixels, at: position) }, rounded?.transformation,
            background.map { .flatten(onto: $0.color) },
        ]
        return steps.compactMap(\.self)
    }
}

extension ImageTransformation.Axis: ExpressibleByArgument {}

/// The value of `--crop`.
enum CropArgument: ExpressibleByArgument, Equatable {
    case rectangle(PixelRectangle)
    case shape(width: Int, height: Int)

    init?(argument: String) {
        let sides = argument.split(separator: ":", omittingEmptySubsequences: false)
        let parts = argument.split(separator: "+", omittingEmptySubsequences: false)
        if sides.count == 2, let width = Int(sides[0]), let height = Int(sides[1]), width > 0, height > 0 {
            self = .shape(width: width, height: height)
        } else if parts.count == 3, let box = BoxSize(argument: String(parts[0])), let left = Int(parts[1]),
            let top = Int(parts[2]), left >= 0, top >= 0
        {
            self = .rectangle(PixelRectangle(left: left, top: top, size: box.size))
        } else {
            return nil
        }
    }

    var isShape: Bool {
        if case .shape = self { true } else { false }
    }

    func transformation(_ gravity: GravityArgument?) -> ImageTransformation {
        switch self {
        case .rectangle(let part):
            .crop(x: part.left, y: part.top, width: part.size.width, height: part.size.height)
        case .shape(let width, let height):
            if let gravity, gravity.position == nil {
                .smartCrop(toAspectRatio: width, height)
            } else {
                .crop(toAspectRatio: width, height, around: gravity?.position ?? .center)
            }
        }
    }
}

/// The value of `--gravity`.
struct GravityArgument: ExpressibleByArgument, Equatable {
    /// The point; `nil` for what is most important in the image.
    let position: ImageTransformation.Position?

    private static let names: [String: ImageTransformation.Position] = [
        "center": .center, "top": .top, "bottom": .bottom, "left": .left, "right": .right, "topleft": .topLeft,
        "topright": .topRight, "bottomleft": .bottomLeft, "bottomright": .bottomRight,
    ]

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        if argument == "smart" {
            position = nil
        } else if let named = Self.names[argument] {
            position = named
        } else if numbers.count == 2, let x = numbers[0], let y = numbers[1], 0...1 ~= x, 0...1 ~= y {
            position = ImageTransformation.Position(x: x, y: y)
        } else {
            return nil
        }
    }
}

/// The value of `--rounded`.
struct RoundedArgument: ExpressibleByArgument, Equatable {
    let transformation: ImageTransformation

    init?(argument: String) {
        if argument == "circle" {
            transformation = .circle
        } else if let radius = Double(argument), radius >= 0 {
            transformation = .rounded(radius: radius)
        } else {
            return nil
        }
    }
}

/// The value of `--background`: a name, or hexadecimal digits with or without a number sign.
struct ColorArgument: ExpressibleByArgument, Equatable {
    let color: PixelColor

    init?(argument: String) {
        let digits = argument.hasPrefix("#") ? argument.dropFirst() : argument[...]
        switch argument {
        case "white": color = .white
        case "black": color = .black
        default:
            guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let number = Int(digits, radix: 16) else {
                return nil
            }
            func component(_ shift: Int) -> UInt8 { UInt8(number >> shift & 255) }
            color = PixelColor(red: component(16), green: component(8), blue: component(0))
        }
    }
}

/// The image of `--overlay`, which is read when the command line is.
struct OverlayImage: Equatable, Sendable {
    let pixels: PixelBuffer

    /// The maximum size of its file, in bytes.
    private static let maximumBytes = 64 << 20

    init(_ path: String) throws {
        do {
            let file = try ImageFile(path: path).bytes(limit: Self.maximumBytes)
            let limits = DecodeLimits(maximumPixels: 1 << 26, maximumBytes: Self.maximumBytes)
            pixels = try StreamingDecoder.decode(file.span, limits: limits, customFormats: CommandFormats.custom).pixels
        } catch {
            let reason = ImageFailure(error).message
            // The parser names the option and its value.
            throw ValidationError("\(reason). Pass the path of another image file.")
        }
    }
}
