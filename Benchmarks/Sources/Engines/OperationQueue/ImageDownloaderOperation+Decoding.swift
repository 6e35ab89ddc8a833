import Foundation
import ImageCodecs

extension ImageDownloaderOperation {
    /// What can be shown of the bytes so far, which a new decoder gets all over again: nil if there is nothing yet.
    func preview(of data: Data) -> PixelBuffer? {
        let decoder = StreamingDecoder()
        do {
            try decoder.append(data.span)
            try decoder.begin()
            return try decoder.preview()?.pixels
        } catch {
            // The end of the download tells what is wrong with the file.
            return nil
        }
    }

    /// The whole image, decoded at full size and only then scaled down.
    func image(from data: Data) throws -> PixelBuffer {
        let image = try StreamingDecoder.decode(data.span).pixels
        guard let maximumSide = options.maximumSide else { return image }
        return image.averaged(toMaximumSide: maximumSide)
    }
}
