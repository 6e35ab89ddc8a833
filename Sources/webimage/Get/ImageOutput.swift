import AsyncWebImage
import WebimageConsole

import Glibc

/// The place where `webimage get` writes images, which are complete or do not appear.
struct ImageOutput: Sendable {
    /// The folder in which files are prepared.
    let folder: OutputFolder
    /// The path of the only file; `nil` if files are named after their sources.
    private var path: String?
    /// A Boolean value that indicates whether the only file replaces an existing one.
    private var replaces = false
    /// A Boolean value that indicates whether the image is written to a stream.
    private var isStream = false
    /// The device that is the stream; `nil` for standard output.
    private var streamPath: String?

    /// Creates an output that names files after their sources.
    init(folder: OutputFolder) {
        self.folder = folder
    }

    /// Creates the output for `target`.
    ///
    /// Throws an error if its folder cannot be written, or its file exists and may not be replaced.
    init(_ target: OutputTarget) throws(FileError) {
        switch target {
        case .folder(let path): folder = try OutputFolder(path: path)
        case .file(let path, let replaces):
            var status = stat()
            let isFree = unsafe lstat(path, &status) != 0
            guard replaces || isFree else { throw Self.exists(path) }
            // A link is kept, and the file that it names is replaced.
            let path = !isFree && status.st_mode & S_IFMT == S_IFLNK ? Self.resolved(path) : path
            let end = path.lastIndex(of: "/")
            folder = try OutputFolder(path: end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
            (self.path, self.replaces) = (path, replaces)
        case .stream(let path):
            folder = .temporary
            (streamPath, isStream) = (path, true)
        }
    }

    /// Returns the path that a file with this name gets if the name is free, for messages.
    func path(of name: FileName) -> String {
        isStream ? folder.path : path ?? folder.path(of: name)
    }

    /// Gives a complete file its name, or copies it to the stream; returns its path, or `nil` for standard output.
    func place(_ file: UnfinishedFile, as name: FileName) async throws -> String? {
        if isStream {
            try await copy(file)
            return streamPath
        }
        guard let path else { return try file.place(as: name) }
        guard try file.place(at: path, replacing: replaces) else { throw Self.exists(path) }
        return path
    }

    private var streamName: String { streamPath ?? "standard output" }

    /// The number of bytes that a pipe takes without blocking once it is writable (`PIPE_BUF` of Linux).
    private static let writableBytes = 4_096

    private func copy(_ file: UnfinishedFile) async throws {
        let descriptor = streamPath.map { unsafe open($0, O_WRONLY | O_CLOEXEC) } ?? STDOUT_FILENO
        guard descriptor >= 0 else { throw FileError("write to", streamName) }
        defer { if streamPath != nil { close(descriptor) } }
        // Small files are in memory, and need no temporary file.
        guard file.count >= UnfinishedFile.bufferSize else { return try write(file.contents(), to: descriptor) }
        let pieces = try file.pieces()
        while let piece = try await pieces.next() { try write(piece, to: descriptor) }
    }

    /// Writes `bytes`; throws an error if the task is canceled while nothing reads them.
    private func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            while !FileDescriptor.isWritable(descriptor, within: 100) { try Task.checkCancellation() }
            let part = Array(rest.prefix(Self.writableBytes))
            try FileDescriptor.write(part, to: descriptor, named: streamName)
            rest = rest.dropFirst(part.count)
        }
    }

    /// Returns the path of the file to which `path` leads.
    private static func resolved(_ path: String) -> String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    private static func exists(_ path: String) -> FileError {
        FileError(description: "\(path) exists already; --overwrite replaces it")
    }
}
