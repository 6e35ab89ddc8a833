import Dispatch

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The lines of a file or of standard input, read as they are asked for.
///
/// Blank lines and those that begin with `#` are left out. One block is held at a time, so a list may have any length.
actor InputList {
    /// A longer line is no URL; it is cut here and fails as one.
    static let longestLine = 65_536

    private let descriptor: Int32
    private let name: String
    private var block: ArraySlice<UInt8> = []
    private var isAtEnd = false

    /// The list in the file at `path`, or standard input for `-`.
    init(path: String) throws(FileError) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("read", path) }
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The next line that says something, or nil at the end of the list or of the task.
    func next() async throws(FileError) -> String? {
        while let line = try await nextLine() {
            let text = line.trimmed
            if !text.isEmpty, !text.hasPrefix("#") { return text }
        }
        return nil
    }

    private func nextLine() async throws(FileError) -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if let end = block.firstIndex(of: UInt8(ascii: "\n")) {
                line += block[..<end].prefix(Self.longestLine - line.count)
                block = block[(end + 1)...]
                return line
            }
            line += block.prefix(Self.longestLine - line.count)
            block = []
            if isAtEnd { return line.isEmpty ? nil : line }
            await waitUntilReadable(descriptor)
            guard !Task.isCancelled else { return nil }
            block = try FileDescriptor.read(65_536, from: descriptor, named: name)[...]
            isAtEnd = block.isEmpty
        }
    }
}

extension [UInt8] {
    fileprivate var trimmed: String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(decoding: self[first...last], as: UTF8.self)
    }
}

/// Returns when reading would not block, or the task is cancelled: nobody's thread waits for a slow pipe.
private func waitUntilReadable(_ descriptor: Int32) async {
    guard !FileDescriptor.isReadable(descriptor, within: 0) else { return }
    let source = ReadSource(source: DispatchSource.makeReadSource(fileDescriptor: descriptor))
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            source.source.setEventHandler { source.source.cancel() }
            source.source.setCancelHandler { continuation.resume() }
            source.source.activate()
        }
    } onCancel: {
        source.source.cancel()
    }
}

/// `@unchecked Sendable`: dispatch sources may be used from any thread, which their type does not say on Linux.
private struct ReadSource: @unchecked Sendable {
    let source: any DispatchSourceRead
}
