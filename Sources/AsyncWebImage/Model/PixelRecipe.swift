import ImageCodecs
import ImageProcessing

/// How the pixels of a request are made of a file: the options for decoding it, and the transformations after that.
struct PixelRecipe: Sendable, Hashable {
    var options = DecodeOptions()
    var transformations: [ImageTransformation] = []
}
