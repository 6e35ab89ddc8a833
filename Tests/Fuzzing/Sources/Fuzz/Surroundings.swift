import Foundation
import HTTPTransport

/// The folder for files, from the environment variable `FUZZ_FOLDER`.
let folder: String = {
    guard let folder = ProcessInfo.processInfo.environment["FUZZ_FOLDER"] else {
        preconditionFailure("FUZZ_FOLDER names no folder")
    }
    return folder
}()

/// Writes a file, or replaces its contents.
func write(_ bytes: [UInt8], to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(file >= 0 && Foundation.write(file, bytes, bytes.count) == bytes.count, "cannot write \(path)")
    close(file)
}

/// An ordinary URL.
let plainURL: HTTPURL = {
    guard let url = try? HTTPURL("http://127.0.0.1/a.jpg") else { preconditionFailure("a plain URL") }
    return url
}()

/// A value that several threads use one after the other.
///
/// `@unchecked Sendable`: each user waits for the previous one.
final class Box<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
