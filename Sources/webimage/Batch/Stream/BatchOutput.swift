import WebimageConsole

/// The destination of the answers of a run.
protocol BatchOutput: Sendable {
    /// Takes an answer; may wait for the disk or for a reader.
    func deliver(_ answer: LineProcessor.Answer) async throws(FileError)
    /// Completes the output after the last answer.
    func finish(_ statistics: BatchStatistics) async throws(FileError)
}
