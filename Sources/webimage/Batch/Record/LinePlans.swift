import ArgumentParser
import AsyncWebImage
import ImageProcessing

/// The plans for the images of a list, whose lines can have options of their own.
struct LinePlans: Sendable {
    private static let sizes: Set<String> = ["max_pixel_size", "fit", "fill"]

    /// The plan of lines without options.
    let common: OutputPlan
    private let images: ImageOptions
    /// A Boolean value that indicates whether hashes of pixels are computed, so that all images must be converted.
    private let needsPixels: Bool

    init(_ images: ImageOptions, needsPixels: Bool) {
        self.images = images
        self.needsPixels = needsPixels
        common = Self.plan(for: images)
    }

    /// Returns the plan for options; shrunk images are JPEG unless `--format` is set, to have one format.
    static func plan(for images: ImageOptions) -> OutputPlan {
        let decoding = images.decoding
        return OutputPlan(
            format: images.format ?? (decoding.target == .original ? nil : .jpeg), options: decoding,
            resizing: images.resize.rule, transformations: images.changes.transformations,
            quality: images.quality, takesFirstFrame: images.firstFrame, isStrict: images.strict,
            skipsReencoding: images.skipReencode, keepsGainMap: images.keepGainMap,
            maximumBytes: images.maxOutputBytes?.bytes)
    }

    /// Returns the plan for a line with options of its own, a JSON object.
    ///
    /// Throws ``ImageRefusal`` if there is an option that is unknown or has a wrong value.
    func plan(for options: [UInt8]) throws -> OutputPlan {
        guard let members = JSONScanner.members(of: options) else { throw refusal("they are not a JSON object") }
        var images = images
        if members.contains(where: { Self.sizes.contains($0.name) }) {
            images.maxPixelSize = nil
            images.fit = nil
            images.fill = nil
            images.resize.resizeMode = nil
            images.resize.imageSize = nil
            images.resize.resizeOnlyIfBigger = false
        }
        for member in members { try set(member, in: &images) }
        do {
            try images.validate()
            try images.changes.validate()
            let plan = Self.plan(for: images)
            try images.validateQuality(for: plan)
            guard plan.isConverted || !needsPixels else { throw refusal("hashes need images that are converted") }
            return plan
        } catch let error as ValidationError {
            throw refusal(error.message)
        }
    }

    private func set(_ member: JSONScanner.Member, in images: inout ImageOptions) throws {
        func value<Value>(_ value: Value?) throws -> Value {
            guard let value else { throw refusal("the value of \(member.name) is not usable") }
            return value
        }
        let text = JSONScanner.text(of: member.value) ?? ""
        let token = String(decoding: member.value, as: UTF8.self)
        let number = Int(token)
        switch member.name {
        case "max_pixel_size": images.maxPixelSize = try value(number)
        case "fit": images.fit = try value(BoxSize(argument: text))
        case "fill": images.fill = try value(BoxSize(argument: text))
        case "format":
            images.format = try value(OutputFormat(rawValue: text))
            if let remedy = images.format?.remedy { throw ImageRefusal(code: .unsupported, description: remedy) }
        case "quality": images.quality = try value(number)
        case "trim": images.changes.trim = try value(Bool(token))
        case "crop": images.changes.crop = try value(CropArgument(argument: text))
        case "gravity": images.changes.gravity = try value(GravityArgument(argument: text))
        case "rotate": images.changes.rotate = try value(number)
        case "flip": images.changes.flip = try value(ImageTransformation.Axis(rawValue: text))
        case "grayscale": images.changes.grayscale = try value(Bool(token))
        case "blur": images.changes.blur = try value(Double(token))
        case "sharpen": images.changes.sharpen = try value(Double(token))
        case "rounded":
            images.changes.rounded = try value(RoundedArgument(argument: text.isEmpty ? token : text))
        case "background": images.changes.background = try value(ColorArgument(argument: text))
        // Not "overlay": lists come from strangers, and it reads a file.
        default: throw refusal("\(member.name) is unknown")
        }
    }

    private func refusal(_ reason: String) -> ImageRefusal {
        ImageRefusal(code: .badLine, description: "the options of the line cannot be used: \(reason)")
    }
}
