#if JPEGXL
import Foundation
import ImageCodecs
import ImageEncoders
import ImageTestSupport

/// JPEG XL files made by `cjxl`, what `djxl` makes of a file, and JPEGs made by `cjpeg`.
enum TestJPEGXL {
    static var hasTools: Bool {
        ["cjxl", "djxl", "cjpeg"].allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
    }

    struct Failure: Error {
        let status: Int32
    }

    /// Returns an image as a file that `cjxl` makes with these options.
    static func file(_ pixels: PixelBuffer, _ options: [String]) throws -> [UInt8] {
        try file(png: pixels.encoded(with: .png()), options)
    }

    /// Returns a PNG as a file that `cjxl` makes with these options.
    static func file(png: [UInt8], _ options: [String]) throws -> [UInt8] {
        try convert(png, from: "png", to: "jxl", with: "cjxl", options)
    }

    /// Returns a JPEG as a file from which it can be restored.
    static func file(jpeg: [UInt8]) throws -> [UInt8] { try convert(jpeg, from: "jpg", to: "jxl", with: "cjxl", []) }

    /// Returns an animation as a file that `cjxl` makes.
    static func file(animation: [PixelBuffer], delay: Duration) throws -> [UInt8] {
        let encoder = try AnimationEncoder(options: .png(), size: animation[0].size, repetitionCount: 3)
        for frame in animation { try encoder.append(frame, delay: delay) }
        return try convert(encoder.finish(), from: "png", to: "jxl", with: "cjxl", ["-d", "0", "-e", "1"])
    }

    /// Returns the pixels that `djxl` decodes, as this package reads them from a PNG.
    static func reference(_ file: [UInt8], _ format: PixelFormat = .rgba8) throws -> PixelBuffer {
        let png = try convert(file, from: "jxl", to: "png", with: "djxl", [])
        return try StreamingDecoder.decode(png.span, options: DecodeOptions(pixelFormat: format)).pixels
    }

    /// Returns the frames that `djxl` decodes, as this package reads them from an APNG.
    static func referenceFrames(_ file: [UInt8]) throws -> [PixelBuffer] {
        try AnimatedImage(convert(file, from: "jxl", to: "apng", with: "djxl", [])).allFrames()
    }

    /// Returns the JPEG that `djxl` restores.
    static func referenceJPEG(_ file: [UInt8]) throws -> [UInt8] {
        try convert(file, from: "jxl", to: "jpg", with: "djxl", [])
    }

    /// Returns an image as a JPEG that `cjpeg` makes with these options.
    static func jpeg(_ pixels: PixelBuffer, _ options: [String]) throws -> [UInt8] {
        let file = Array("P6 \(pixels.width) \(pixels.height) 255\n".utf8) + pixels.rgb
        return try convert(file, from: "ppm", to: "jpg", with: "cjpeg", options)
    }

    private static func convert(
        _ file: [UInt8], from: String, to: String, with tool: String, _ options: [String]
    ) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "in.\(from)"), folder.appending(path: "out.\(to)"))
        try Data(file).write(to: input)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/\(tool)")
        process.arguments =
            tool == "cjpeg" ? options + ["-outfile", output.path, input.path] : [input.path, output.path] + options
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return [UInt8](try Data(contentsOf: output))
    }
}
#endif
