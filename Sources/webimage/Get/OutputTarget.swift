import ArgumentParser
import AsyncWebImage
import WebimageConsole

import Glibc

/// The destination that the option `--output` of `webimage get` names.
enum OutputTarget: Equatable {
    /// A folder, in which files are named after their sources.
    case folder(String)
    /// A file, which replaces an existing one only if `replaces` is set.
    case file(String, replaces: Bool)
    /// Standard output for one image if `nil`, or the device at the path.
    case stream(String?)

    /// Creates the target that `name` means for one or several sources.
    ///
    /// The name of a file has an extension, or belongs to an existing file; a slash at the end, or an existing folder,
    /// makes it a folder. Throws an error if `name` cannot be used for these sources: for several sources, the name
    /// of a new folder with the extension of a format to write is taken for a mistake.
    init(_ name: String, forOneSource isSingle: Bool, replaces: Bool) throws(ValidationError) {
        if name == "-" {
            guard isSingle else {
                throw ValidationError("-o - writes one image to standard output: pass one source, and no --input.")
            }
            self = .stream(nil)
            return
        }
        guard !name.isEmpty else { throw ValidationError("--output has no value.") }
        let kind = Self.kind(of: name)
        if isSingle, Self.isStandardOutput(name) {
            self = .stream(nil)
            return
        }
        if kind == S_IFCHR {
            self = .stream(name)
            return
        }
        guard kind == nil || kind == S_IFDIR || kind == S_IFREG else {
            throw ValidationError("\(name) is neither a file nor a folder: write -o - > \(name)")
        }
        if isSingle, !name.hasSuffix("/"), kind != S_IFDIR, kind != nil || Self.fileExtension(of: name) != nil {
            self = .file(name, replaces: replaces)
            return
        }
        if let kind, kind != S_IFDIR {
            throw ValidationError("\(name) is a file: with several sources, -o names a folder.")
        }
        if kind == nil, !name.hasSuffix("/"), Self.file(name, replaces: replaces).format != nil {
            throw ValidationError(
                "\(name) looks like a file: with several sources, or --input, -o names a folder; write \(name)/")
        }
        self = .folder(name)
    }

    /// The format that the extension of a file name means; `nil` if there is no file name or no known extension.
    var format: OutputFormat? { fileExtension.flatMap { OutputFormat(fileExtension: $0) } }

    /// The extension of the name of a file, without the dot; `nil` if there is none.
    var fileExtension: String? {
        guard case .file(let name, _) = self else { return nil }
        return Self.fileExtension(of: name)
    }

    private static func fileExtension(of path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let suffix = name[name.index(after: dot)...]
        return suffix.isEmpty ? nil : String(suffix)
    }

    /// Returns whether `path`, such as `/dev/stdout`, is the open standard output.
    private static func isStandardOutput(_ path: String) -> Bool {
        var (named, open) = (stat(), stat())
        guard unsafe stat(path, &named) == 0, unsafe fstat(STDOUT_FILENO, &open) == 0 else { return false }
        return named.st_dev == open.st_dev && named.st_ino == open.st_ino && named.st_mode & S_IFMT != S_IFCHR
    }

    /// Returns the file type of `path`; `nil` if there is nothing.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
