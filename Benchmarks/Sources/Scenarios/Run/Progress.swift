import Glibc

/// The progress on standard error: one line that is overwritten on a terminal, separate lines elsewhere.
struct Progress: Sendable {
    private static let columns = 79
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ text: String) {
        write(isTerminal ? "\r\u{1B}[K" + text.prefix(Self.columns) : text + "\n")
    }

    /// Removes the line from a terminal.
    func clear() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        StandardStream.write(text, to: STDERR_FILENO)
    }
}
