import ImageCodecs
import ImageProcessing

/// How the pixels of a request are made from a file: decoded, then transformed.
struct PixelRecipe: Sendable, Hashable {
    var options = DecodeOptions()
    var transformations: [ImageTransformation] = []

    /// A text that is equal for equal recipes, in all processes, and different for all others.
    var identity: String {
        // The lengths separate identifiers of any text.
        transformations.map(\.identifier).reduce(options.identity) { "\($0)\n\($1.utf8.count) \($1)" }
    }
}

extension ImageRequest {
    /// The recipe for the pixels.
    var recipe: PixelRecipe { PixelRecipe(options: options, transformations: transformations) }
}
