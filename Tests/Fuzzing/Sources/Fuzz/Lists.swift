@testable import CommandFiles
import Dispatch

/// Reads the bytes as an input list of the command, and makes a file name of each line.
func readList(_ bytes: [UInt8]) {
    let path = folder + "/list"
    write(bytes, to: path)
    let done = DispatchSemaphore(value: 0)
    let count = Box(0)
    Task {
        if let list = try? InputList(path: path) {
            while let source = try? await list.next() {
                count.value += 1
                check(source)
            }
        }
        done.signal()
    }
    done.wait()
    let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    let expected = content.lines.count { line in line.first { !isBlank($0) }.map { $0 != UInt8(ascii: "#") } ?? false }
    precondition(count.value == expected, "\(count.value) sources in \(expected) lines")
}

private func check(_ source: ImageSource) {
    precondition(!source.text.utf8.contains(0x0A))
    guard case .url(let url) = source.place else { return }
    for name in [FileName(source: url, suffix: "jpg").numbered(1), FileName.preview(12, source: url).numbered(3)] {
        precondition(name.utf8.count <= 200 && !name.utf8.contains(0) && !name.utf8.contains(UInt8(ascii: "/")), name)
        precondition(name.unicodeScalars.first.map { $0 != "." && $0 != "-" } ?? false, name)
    }
}
