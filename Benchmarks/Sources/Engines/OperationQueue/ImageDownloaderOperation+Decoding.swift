import Foundation
import ImageCodecs

extension ImageDownloaderOperation {
    /// Returns an image of the bytes received so far, which a new decoder processes from the start, or `nil` if there
    /// is nothing to show.
    func preview(of data: Data) -> PixelBuffer? {
        let decoder = StreamingDecoder()
        do {
            try decoder.append(data.span)
            try decoder.begin()
            return try decoder.preview()?.pixels
        } catch {
            // The end of the download reports the error.
            return nil
        }
    }

    /// Returns the whole image, which is decoded at full size and only then scaled down.
    func image(from data: Data) throws -> PixelBuffer {
        let image = try StreamingDecoder.decode(data.span).pixels
        guard let maximumSide = options.maximumSide else { return image }
        return image.averaged(toMaximumSide: maximumSide)
    }
}
