import AsyncWebImage
import Hashing

/// The reason why a source or a line of a list has no image.
struct ImageFailure: Sendable, Equatable {
    let code: ImageError.Code
    /// A sentence.
    var message: String
    /// A Boolean value that indicates whether the same request may succeed later.
    let isRetryable: Bool

    init(_ code: ImageError.Code, _ message: String, isRetryable: Bool = false) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
    }

    private init(_ refusal: ImageRefusal) {
        self.init(refusal.code, refusal.description, isRetryable: refusal.isRetryable)
    }

    init(_ error: any Error) {
        switch error {
        case let refusal as ImageRefusal: self.init(refusal)
        case ImageError.rejected(_, _, let refusal as ImageRefusal): self.init(refusal)
        case is CancellationError, ImageError.shutDown:
            self.init(.cancelled, "the run was interrupted", isRetryable: true)
        case let error as ImageError:
            // The time of a whole download may suffice when the network is better.
            self.init(error.code, error.description, isRetryable: error.isRetryable || error.code == .deadline)
            if case .codec(.unsupportedFormat(let name), _, _) = error { addRemedy(forMissing: name) }
        case let error as CodecError:
            self.init(ImageError.Code(error), error.description)
            if case .unsupportedFormat(let name) = error { addRemedy(forMissing: name) }
        case let refusal as RefusedWarnings: self.init(.corrupt, refusal.description)
        case let error as MemoryShortage: self.init(.tooManyPixels, error.description)
        case let error as any CustomStringConvertible: self.init(.other, error.description)
        default: self.init(.other, "\(error)")
        }
    }

    private mutating func addRemedy(forMissing format: String) {
        if let remedy = CommandFormats.remedy(forMissing: format) { message += "; " + remedy }
    }

    /// A Boolean value that indicates whether the failure concerns the image, after its download: its format, its
    /// size, or the output.
    ///
    /// This follows from the code alone, so that it does not depend on how much of a body had arrived.
    var concernsImage: Bool { Self.codesOfImages.contains(code) }

    private static let codesOfImages: Set<ImageError.Code> = [
        .notAnImage, .corrupt, .truncatedImage, .unsupported, .tooManyPixels, .tooManyFrames, .encode, .transform,
        .tooSmall, .tooLarge, .aspectRatio,
    ]
}

// The codes of the command, in addition to those of the library.
extension ImageError.Code {
    /// The line of the list cannot be used.
    static let badLine = Self(rawValue: "bad_line")
    /// X-Robots-Tag disallows the use of the image.
    static let robotsTag = Self(rawValue: "robots_tag")
    /// robots.txt disallows the request, or the server cannot provide it.
    static let robotsText = Self(rawValue: "robots_txt")
}

/// The error when an image is refused by a rule of the command.
struct ImageRefusal: Error, Equatable, CustomStringConvertible {
    let code: ImageError.Code
    let description: String
    /// A Boolean value that indicates whether the rule may permit the image later.
    var isRetryable = false
}
