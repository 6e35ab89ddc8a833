import ImageCodecs

/// A transformation by a closure of the application.
struct CustomOperation: PixelOperation {
    let parameters: String
    let size: @Sendable (PixelSize) -> PixelSize
    let workingBytes: @Sendable (PixelSize) -> Int
    let transform: @Sendable (consuming PixelBuffer) throws -> PixelBuffer

    var name: String { "custom" }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize { self.size(size) }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int { max(0, workingBytes(size)) }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        let (expected, format) = (size(image.size), image.format)
        let result: PixelBuffer
        do {
            result = try transform(image)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw CodecError.transformationFailed(parameters, "\(error)")
        }
        guard result.width <= expected.width, result.height <= expected.height, result.size.area > 0 else {
            throw CodecError.transformationFailed(
                parameters, "the result of \(result.size) is empty or larger than the declared \(expected)")
        }
        guard result.format == format else {
            throw CodecError.transformationFailed(
                parameters, "the result has the format \(result.format.rawValue) instead of \(format.rawValue)")
        }
        return result
    }
}
