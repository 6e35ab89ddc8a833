import WebimageConsole
import Dispatch

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The lines of a file or of standard input, read as they are asked for.
///
/// Blank lines and those that begin with `#` are left out, as is a byte order mark. One block is held at a time, so a list may
/// have any length.
actor InputList {
    /// A longer line is no URL, and not held; it fails.
    static let longestLine = 65_536

    private let descriptor: Int32
    private let name: String
    private var block: ArraySlice<UInt8> = []
    private var isAtStart = true
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
    func next() async throws(FileError) -> ImageSource? {
        while let line = try await nextLine() {
            let content = line.bytes.trimmed
            guard let first = content.first ?? line.firstBeyond, first != UInt8(ascii: "#") else { continue }
            guard !line.isCut else {
                return ImageSource(
                    unusable: String(decoding: content.prefix(100), as: UTF8.self) + "...",
                    reason: "the line is longer than \(Self.longestLine) bytes")
            }
            // Another encoding would be another URL.
            guard let text = String(validating: content, as: UTF8.self) else {
                return ImageSource(
                    unusable: String(decoding: content, as: UTF8.self), reason: "the line is not UTF-8")
            }
            return ImageSource(listed: text)
        }
        return nil
    }

    /// A line without its end, as far as it is held.
    private struct Line {
        var bytes: [UInt8] = []
        var isCut = false
        /// The first byte of what was cut off that is no blank.
        var firstBeyond: UInt8?
        /// How many bytes are held.
        let limit: Int

        mutating func append(_ part: ArraySlice<UInt8>) {
            let held = part.prefix(limit - bytes.count)
            bytes += held
            guard held.count < part.count else { return }
            isCut = true
            firstBeyond = firstBeyond ?? part[held.endIndex...].first { !$0.isBlank }
        }
    }

    private func nextLine() async throws(FileError) -> Line? {
        // A byte order mark is no part of the line whose length counts.
        let mark = isAtStart ? Array("\u{FEFF}".utf8) : []
        isAtStart = false
        guard var line = try await nextLine(limit: Self.longestLine + mark.count) else { return nil }
        if line.bytes.starts(with: mark) { line.bytes.removeFirst(mark.count) }
        line.isCut = line.isCut || line.bytes.count > Self.longestLine
        return line
    }

    private func nextLine(limit: Int) async throws(FileError) -> Line? {
        var line = Line(limit: limit)
        while true {
            if let end = block.firstIndex(of: UInt8(ascii: "\n")) {
                line.append(block[..<end])
                block = block[(end + 1)...]
                return line
            }
            line.append(block)
            block = []
            if isAtEnd { return line.bytes.isEmpty ? nil : line }
            await waitUntilReadable(descriptor)
            guard !Task.isCancelled else { return nil }
            block = try FileDescriptor.read(65_536, from: descriptor, named: name)[...]
            isAtEnd = block.isEmpty
        }
    }
}

extension [UInt8] {
    /// Without blanks around.
    fileprivate var trimmed: ArraySlice<UInt8> {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return []
        }
        return self[first...last]
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}

/// Returns when reading would not block, or the task is canceled: nobody's thread waits for a slow pipe.
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
