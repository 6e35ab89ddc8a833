import ImageCodecs
import ImageProcessing
import VipsLoop

/// The libraries that transform pixels.
enum TransformEngine: String, CaseIterable, Sendable {
    /// This package, which transforms one image on one thread.
    case pixels = "ImageProcessing"
    /// libvips with as many threads as it chooses.
    case vips
    /// libvips with one thread.
    case vipsThread = "vips-one-thread"

    /// Returns a function that transforms one of `pictures`, by its number, as often as it is called.
    func work(_ work: Transform.Work, on pictures: [PixelBuffer]) throws -> (Int) throws -> Void {
        if self == .pixels { return Self.library(work, on: pictures) }
        guard vips_loop_open(self == .vips ? 0 : 1) else {
            throw NotInstalled(description: "libvips.so.42 is not installed")
        }
        return Self.vips(work, on: pictures)
    }

    /// The transformations of this package for a kind of work.
    static func transformations(_ work: Transform.Work) -> [ImageTransformation] {
        let blur = ImageTransformation.blur(sigma: Transform.sigma)
        let crop = ImageTransformation.crop(toAspectRatio: 1, 1)
        let corners = ImageTransformation.rounded(radius: Transform.radius)
        return switch work {
        case .avatar: [crop, blur, corners]
        case .softAvatar: [crop, corners, blur]
        case .blur: [blur]
        }
    }

    private static func library(_ work: Transform.Work, on pictures: [PixelBuffer]) -> (Int) throws -> Void {
        let transformations = transformations(work)
        guard work == .blur else {
            return { number in
                let result = try pictures[number % pictures.count].applying(transformations)
                try Mismatch.check("columns", result.width, is: Transform.side)
            }
        }
        // A blur takes place in the memory of the image, which the next one blurs further.
        var pictures = pictures
        return { _ in
            guard let picture = pictures.popLast() else { return }
            pictures.append(try picture.applying(transformations))
        }
    }

    /// libvips works with three bytes for each pixel that is opaque, and takes them where they are.
    private static func vips(_ work: Transform.Work, on pictures: [PixelBuffer]) -> (Int) throws -> Void {
        let sources = pictures.map { picture in
            picture.bytes.enumerated().filter { $0.offset % 4 < 3 }.map(\.element)
        }
        let (size, side) = (work.size, Transform.side)
        var output = [UInt8](repeating: 0, count: work == .blur ? size.area * 3 : side * side * 4)
        let mask = mask()
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        return { number in
            let source = sources[number % sources.count]
            let isComplete =
                work == .blur
                ? unsafe vips_loop_blur(source, width, height, 3, Transform.sigma, &output)
                : unsafe vips_loop_avatar(
                    source, width, height, UInt32(side), Transform.sigma, mask, work == .softAvatar, &output)
            guard isComplete else { throw Mismatch(description: "libvips failed") }
        }
    }

    /// The alpha values of a square with rounded corners, which programs with libvips keep for all images.
    private static func mask() -> [UInt8] {
        let side = Transform.side
        let white = PixelBuffer(
            size: PixelSize(width: side, height: side), bytes: [UInt8](repeating: 255, count: side * side * 4))
        let rounded = try? white?.applying([.rounded(radius: Transform.radius)])
        return (rounded?.bytes ?? []).enumerated().filter { $0.offset % 4 == 3 }.map(\.element)
    }
}
