import WebimageConsole

/// The destination of the answers of a run.
protocol BatchOutput: Sendable {
    /// Takes an answer; may wait for the disk or for a reader.
    func deliver(_ answer: LineProcessor.Answer) async throws(FileError)
    /// Returns whether a line is answered; called in the order of the list. Can set the position of the entry.
    func takes(_ entry: inout ListEntry) async throws -> Bool
    /// Called after the last line of the list, unless the run was interrupted.
    func endList() async throws
    /// Ends the output after the last answer; without its end mark unless it `isComplete`.
    func finish(_ statistics: BatchStatistics, isComplete: Bool) async throws(FileError)
    /// Removes what is incomplete; called instead of ``finish(_:isComplete:)`` after a failure.
    func discard()
}

extension BatchOutput {
    func takes(_ entry: inout ListEntry) async throws -> Bool { true }
    func endList() async throws {}
    func discard() {}
}
