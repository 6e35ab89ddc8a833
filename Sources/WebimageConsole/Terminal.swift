import Glibc

/// The standard output or error stream of the process.
package struct Terminal: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    package static let output = Terminal(descriptor: STDOUT_FILENO)
    package static let error = Terminal(descriptor: STDERR_FILENO)

    /// A Boolean value that indicates whether the stream is a terminal that supports cursor movements.
    package var isInteractive: Bool {
        isatty(descriptor) == 1 && Self.environment("TERM") != "dumb"
    }

    /// A Boolean value that indicates whether color output is allowed: see https://no-color.org.
    package var showsColor: Bool {
        isInteractive && (Self.environment("NO_COLOR") ?? "").isEmpty
    }

    /// The current number of columns and rows.
    package var size: (columns: Int, rows: Int) {
        var size = winsize()
        let status = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        guard status == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes `text` unchanged.
    package func write(_ text: String) throws(FileError) {
        try FileDescriptor.write(
            Array(text.utf8), to: descriptor, named: descriptor == STDOUT_FILENO ? "standard output" : "the terminal")
    }

    /// Writes `text`, ignoring errors: for optional output.
    package func tell(_ text: String) {
        do throws(FileError) { try write(text) } catch {}
    }

    /// Opens replacements for closed standard streams, so that files opened later do not take their descriptors.
    ///
    /// Reading from them, and writing results to them, still fails.
    package static func fillGaps() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", mode)
        }
    }

    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}

extension String {
    /// Returns the text truncated to `columns` of a terminal.
    ///
    /// Wide characters count twice.
    package func fitting(_ columns: Int) -> String {
        var width = 0
        return String(
            prefix { character in
                width += character.columns
                return width <= columns
            })
    }
}

extension Character {
    /// An approximation: East Asian wide forms and emoji take two columns.
    fileprivate var columns: Int {
        switch unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
