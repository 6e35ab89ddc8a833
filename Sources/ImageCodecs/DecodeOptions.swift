/// What a decode shall make of a file.
public struct DecodeOptions: Sendable, Hashable {
    /// The size wanted; images are never enlarged.
    public var target: Target
    /// Leave the rows as stored instead of turning them upright.
    public var ignoresOrientation: Bool

    /// The size wanted, in pixels of the upright image.
    public enum Target: Sendable, Hashable {
        /// As large as the file has it.
        case original
        /// Neither side longer than this.
        case maximumSide(Int)
        /// As large as fits into the given box, keeping the shape.
        case fit(PixelSize)
    }

    /// The original size, upright, unless told otherwise.
    public init(target: Target = .original, ignoresOrientation: Bool = false) {
        self.target = target
        self.ignoresOrientation = ignoresOrientation
    }
}
