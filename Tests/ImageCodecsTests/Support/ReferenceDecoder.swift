import Foundation
import ImageCodecs

/// The program `djpeg` of libjpeg-turbo, if it is installed (package libjpeg-turbo-progs).
enum ReferenceDecoder {
    static let djpeg = ["/usr/bin/djpeg", "/usr/local/bin/djpeg", "/opt/homebrew/bin/djpeg"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static var isInstalled: Bool { djpeg != nil }

    /// Width, height and RGB bytes of what it makes of `file` at `eighths`/8 of its size.
    static func decode(_ file: [UInt8], eighths: Int = 8) throws -> (size: PixelSize, rgb: [UInt8]) {
        let name = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(file).write(to: name)
        defer { try? FileManager.default.removeItem(at: name) }
        // popen, because Foundation's Process leaks, which leak checking reports.
        guard let djpeg, let pipe = popen("'\(djpeg)' -rgb -pnm -scale \(eighths)/8 '\(name.path)'", "r") else {
            throw Failure(status: -1)
        }
        var data: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&piece, 1, piece.count, pipe), count > 0 { data += piece[..<count] }
        let status = pclose(pipe)
        guard status == 0 else { throw Failure(status: status) }
        return try parse(data)
    }

    struct Failure: Error {
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
