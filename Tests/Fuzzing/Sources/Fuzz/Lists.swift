@testable import CommandFiles
import Dispatch

/// Reads the bytes as lines of a list of the command, also of CSV, and makes a file name of each line.
func readList(_ bytes: [UInt8]) {
    // What is compressed has other lines.
    guard !bytes.starts(with: Gunzip.signature) else { return }
    let path = folder + "/list"
    write(bytes, to: path)
    let done = DispatchSemaphore(value: 0)
    Task {
        let lines = await read(path, separator: nil)
        for line in lines where !line.isCut {
            if let text = String(validating: line.bytes, as: UTF8.self) { check(ImageSource(listed: text)) }
        }
        let records = await read(path, separator: UInt8(ascii: ","))
        for record in records { _ = CSVRecord.values(of: record.bytes, separator: UInt8(ascii: ",")) }
        // Each line is one, or part of a record.
        let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let expected = content.count { $0 == 0x0A } + (content.last.map { $0 == 0x0A } ?? true ? 0 : 1)
        precondition(lines.count == expected, "\(lines.count) lines instead of \(expected)")
        let parts = records.reduce(0) { $0 + 1 + $1.bytes.count { $0 == 0x0A } }
        precondition(parts == expected, "\(parts) lines in records instead of \(expected)")
        done.signal()
    }
    done.wait()
}

private func read(_ path: String, separator: UInt8?) async -> [RawLine] {
    guard let reader = try? LineReader(path: path) else { return [] }
    if let separator { reader.joinQuotedLines(separator: separator) }
    var lines: [RawLine] = []
    while let line = try? await reader.next() { lines.append(line) }
    return lines
}

private func check(_ source: ImageSource) {
    precondition(!source.text.utf8.contains(0x0A))
    guard case .url(let url) = source.location else { return }
    for name in [FileName(source: url, suffix: "jpg").numbered(1), FileName.preview(12, source: url).numbered(3)] {
        precondition(name.utf8.count <= 200 && !name.utf8.contains(0) && !name.utf8.contains(UInt8(ascii: "/")), name)
        precondition(name.unicodeScalars.first.map { $0 != "." && $0 != "-" } ?? false, name)
    }
}
