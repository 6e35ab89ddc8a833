import Foundation
import ImageCodecs
import ImageTestSupport
import Testing

/// JPEGs of kinds that our encoder does not write, made by `cjpeg` (package libjpeg-turbo-progs).
struct TestJPEGScans: Sendable, CustomTestStringConvertible {
    var name: String
    var options = ""
    /// A script of scans, in the language of `cjpeg -scans`.
    var script: String?

    var testDescription: String { name }

    static let kinds = [
        TestJPEGScans(name: "one scan a channel", script: "0; 1; 2;"),
        TestJPEGScans(name: "restart markers", options: "-restart 1B"),
        TestJPEGScans(name: "progressive with restart markers", options: "-progressive -restart 1"),
        TestJPEGScans(name: "2 by 1 samples", options: "-sample 2x1 -progressive"),
        TestJPEGScans(name: "4 by 1 samples", options: "-sample 4x1 -progressive"),
        TestJPEGScans(name: "1 by 2 samples, chroma denser", options: "-sample 1x1,2x2,1x2 -progressive"),
        TestJPEGScans(name: "arithmetic", options: "-arithmetic"),
        TestJPEGScans(name: "arithmetic, progressive", options: "-arithmetic -progressive"),
        TestJPEGScans(
            name: "many refinements",
            script: """
                0,1,2: 0-0, 0, 3; 0,1,2: 0-0, 3, 2; 0: 1-63, 0, 3; 0: 1-63, 3, 2; 1: 1-63, 0, 1; 2: 1-63, 0, 1;
                0: 1-63, 2, 1; 0,1,2: 0-0, 2, 1; 0,1,2: 0-0, 1, 0; 0: 1-63, 1, 0; 1: 1-63, 1, 0; 2: 1-63, 1, 0;
                """),
    ]

    private static let path = ["/usr/bin/cjpeg", "/usr/local/bin/cjpeg", "/opt/homebrew/bin/cjpeg"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static var isAvailable: Bool { path != nil }

    /// `image` as such a file.
    func file(_ image: PixelBuffer) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appendingPathComponent("image.ppm"), folder.appendingPathComponent("image.jpg"))
        let rgb = image.bytes.indices.filter { $0 % 4 != 3 }.map { image.bytes[$0] }
        try Data(Array("P6\n\(image.width) \(image.height)\n255\n".utf8) + rgb).write(to: input)
        var command = "'\(try Self.path.unwrapped())' \(options)"
        if let script {
            let scans = folder.appendingPathComponent("scans.txt")
            try Data(script.utf8).write(to: scans)
            command += " -scans '\(scans.path)'"
        }
        // system, because Foundation's Process leaks, which leak checking reports.
        guard system("\(command) -outfile '\(output.path)' '\(input.path)'") == 0 else { throw Failure() }
        return [UInt8](try Data(contentsOf: output))
    }

    struct Failure: Error {}
}
