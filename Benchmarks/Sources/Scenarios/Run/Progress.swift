import Glibc

/// What is going on, on standard error: one line that is written over on a terminal, lines one after the other elsewhere.
struct Progress: Sendable {
    private static let columns = 79
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ text: String) {
        write(isTerminal ? "\r\u{1B}[K" + text.prefix(Self.columns) : text + "\n")
    }

    /// Takes the line away.
    func clear() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        StandardStream.write(text, to: STDERR_FILENO)
    }
}
