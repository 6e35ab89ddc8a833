import ArgumentParser
import WebimageConsole

extension ValidationError {
    /// Creates the error for the value of `option`, the path of a file, if it cannot be read; returns `nil` if it can.
    init?(_ option: String, reading path: String) {
        guard let error = FileError.reading(path) else { return nil }
        self.init("\(option): \(error.description.printable).")
    }
}
