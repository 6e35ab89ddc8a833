import HTTPSemantics
import ImageCodecs
public import ImageEncoders

/// The rule for the file that ``ImageLoader/file(for:as:)`` makes of an image: its format and options, and what it
/// keeps of the metadata.
public struct OutputRule: Sendable, Hashable {
    /// Metadata of the original that is kept.
    public struct Metadata: OptionSet, Sendable, Hashable {
        /// The sum of the bits.
        public let rawValue: Int

        /// Creates a set from the sum of its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The color profile; pixels then keep their colors instead of being converted to sRGB.
        public static let colorProfile = Metadata(rawValue: 1)
        /// The Exif data of JPEG, PNG, and WebP, up to 128 KiB, in which the orientation is set to upright.
        ///
        /// They can contain the place where a photo was taken.
        public static let exif = Metadata(rawValue: 2)
        /// The gain map of JPEG, which fits the result only if the image is merely scaled.
        package static let gainMap = Metadata(rawValue: 4)
    }

    /// The encoding of images without transparent pixels.
    let opaque: EncodeOptions
    /// The encoding of images with transparent pixels.
    let transparent: EncodeOptions
    /// The encoding of animations; `nil` for the first frame as a still image.
    let animated: EncodeOptions?
    let metadata: Metadata
    /// A text that is equal for equal rules, in all processes.
    let identity: String

    /// Creates a rule for one format.
    ///
    /// If the format can store animations, they stay animations; otherwise, or with `keepsAnimations` false, the file
    /// contains the first frame.
    public init(_ options: EncodeOptions, metadata: Metadata = [], keepsAnimations: Bool = true) {
        let animated = keepsAnimations && options.encoder.storesAnimations ? options : nil
        let identity = options.encoder.identity
        self.init(
            opaque: options, transparent: options, animated: animated, metadata,
            encoders: [identity, identity, animated == nil ? "" : identity])
    }

    /// Creates a rule for the best format that a client accepts, by the value of its `Accept` field (RFC 9110, section
    /// 12.5.1); `nil` for a request without that field.
    ///
    /// Of the candidates that the client weights highest, the first that can store the image is chosen: for images with
    /// transparency, one that stores it; for animations, WebP or GIF rather than PNG, because not all clients play APNG.
    /// If the client accepts none of the candidates, the field is disregarded.
    public init(
        accepting accept: String?, from candidates: [EncodeOptions] = [.webp(), .jpeg(), .png(), .gif()],
        metadata: Metadata = [], keepsAnimations: Bool = true
    ) {
        let candidates = candidates.isEmpty ? [.jpeg()] : candidates
        let field = AcceptField(accept ?? "*/*")
        let weights = candidates.map { field.weight(of: $0.format.mediaType) }
        let acceptsNone = weights.allSatisfy { $0 == 0 }
        func best(where isUsable: (EncodeOptions) -> Bool) -> EncodeOptions? {
            let usable = candidates.indices.filter { isUsable(candidates[$0]) && (acceptsNone || weights[$0] > 0) }
            let highest = usable.map { weights[$0] }.max()
            return usable.first { weights[$0] == highest }.map { candidates[$0] }
        }
        let opaque = best { _ in true } ?? candidates[0]
        // A GIF has pixels that are transparent, but none that are partly so; and not all programs play APNG.
        let transparent =

            best { $0.encoder.storesTransparency && $0.format != .gif } ?? best(where: \.encoder.storesTransparency)
        let animated =

            best { $0.encoder.storesAnimations && $0.format != .png } ?? best(where: \.encoder.storesAnimations)
        let (usedTransparent, usedAnimated) = (transparent ?? opaque, keepsAnimations ? animated : nil)
        self.init(
            opaque: opaque, transparent: usedTransparent, animated: usedAnimated, metadata,
            encoders: [opaque, usedTransparent, usedAnimated].map { $0?.encoder.identity ?? "" })
    }

    /// Creates a rule whose encoders have these identities.
    private init(
        opaque: EncodeOptions, transparent: EncodeOptions, animated: EncodeOptions?, _ metadata: Metadata,
        encoders: [String]
    ) {
        self.opaque = opaque
        self.transparent = transparent
        self.animated = animated
        self.metadata = metadata
        identity = "\(encoders.joined(separator: "\n"))\n\(metadata.rawValue)"
    }

    /// Returns whether two rules make the same files.
    public static func == (left: OutputRule, right: OutputRule) -> Bool { left.identity == right.identity }

    /// Adds the text that identifies the rule to `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// The formats of the files that this rule can make.
    var formats: [ImageFormat] { [opaque, transparent, animated].compactMap { $0?.format } }
}
