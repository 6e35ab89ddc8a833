import Foundation
package import ImageCodecs

/// The programs of the C libraries: `djpeg` (package libjpeg-turbo-progs), `dwebp` (package webp), and those of packages
/// libavif-bin and libheif-examples.
package enum ReferenceDecoder {
    /// Returns whether `program` is installed.
    package static func has(_ program: String) -> Bool { path(program) != nil }

    /// The width, height, and RGB bytes of `djpeg`'s output for `file` at `eighths`/8 of its size.
    ///
    /// Warnings are errors unless the file `isDamaged`.
    package static func decodeJPEG(
        _ file: [UInt8], eighths: Int = 8, isDamaged: Bool = false
    ) throws -> (size: PixelSize, rgb: [UInt8]) {
        let options = "-rgb -pnm -scale \(eighths)/8"
        return try parse(output(of: "djpeg", options, file, ignoresWarnings: isDamaged))
    }

    /// The RGBA bytes of `dwebp`'s output for `file`.
    package static func decodeWebP(_ file: [UInt8]) throws -> [UInt8] {
        let data = try output(of: "dwebp", "-quiet -pam -o -", file)
        let end = Array("ENDHDR\n".utf8)
        guard let header = data.indices.first(where: { data[$0...].starts(with: end) }) else {
            throw Failure(status: -1)
        }
        return Array(data[(header + end.count)...])
    }

    /// Returns the file that `program` makes of `files`.
    ///
    /// The arguments are `options`, the names of the files with the extension `from`, and `output`, followed by the name of
    /// the result with the extension `to`.
    package static func convert(
        _ files: [[UInt8]], with program: String, _ options: String = "", from: String, output: String = "", to: String
    ) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var names: [String] = []
        for (index, file) in files.enumerated() {
            let name = folder.appendingPathComponent("\(index).\(from)")
            try Data(file).write(to: name)
            names.append("'\(name.path)'")
        }
        let result = folder.appendingPathComponent("result.\(to)")
        let command = "\(options) \(names.joined(separator: " ")) \(output) '\(result.path)' 2>&1"
        guard let path = path(program), let pipe = unsafe popen("'\(path)' \(command)", "r") else {
            throw Failure(status: -1)
        }
        var text = [UInt8](repeating: 0, count: 64 << 10)
        while unsafe fread(&text, 1, text.count, pipe) > 0 {}
        let status = unsafe pclose(pipe)
        guard status == 0, let data = try? Data(contentsOf: result) else { throw Failure(status: status) }
        return Array(data)
    }

    private static func path(_ program: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + program }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Returns the standard output of `program`.
    private static func output(
        of program: String, _ options: String, _ file: [UInt8], ignoresWarnings: Bool = false
    ) throws -> [UInt8] {
        let name = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(file).write(to: name)
        defer { try? FileManager.default.removeItem(at: name) }
        // popen, because Foundation's Process leaks, which leak checking reports.
        let command = "\(options) '\(name.path)'" + (ignoresWarnings ? " 2>/dev/null" : "")
        guard let path = path(program), let pipe = unsafe popen("'\(path)' \(command)", "r") else {
            throw Failure(status: -1)
        }
        var data: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = unsafe fread(&piece, 1, piece.count, pipe), count > 0 { data += piece[..<count] }
        let status = unsafe pclose(pipe)
        // libjpeg's programs exit with 2 after warnings.
        guard status == 0 || (ignoresWarnings && status == 2 << 8) else { throw Failure(status: status) }
        return data
    }

    package struct Failure: Error {
        var status: Int32
    }

    /// P6, width, height and 255, then the bytes.
    private static func parse(_ data: [UInt8]) throws -> (PixelSize, [UInt8]) {
        var fields: [String] = []
        var offset = 0
        while fields.count < 4, offset < data.count {
            let field = data[offset...].prefix { $0 != 10 && $0 != 32 }
            fields.append(String(decoding: field, as: UTF8.self))
            offset += field.count + 1
        }
        guard fields.count == 4, fields[0] == "P6", let width = Int(fields[1]), let height = Int(fields[2]) else {
            throw Failure(status: -1)
        }
        return (PixelSize(width: width, height: height), Array(data[offset...]))
    }
}
