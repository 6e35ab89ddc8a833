import AsyncWebImage

/// A line of a list that is being answered.
///
/// Thousands of lines wait at a time, so their tasks hold this object instead of copies of its parts. Not `Sendable`:
/// used only by the task of the line.
final class StartedLine {
    /// The beginning of a download.
    enum Beginning {
        /// The body, whose first piece is waited for first.
        case body(DownloadedPieces)
        /// The header of the image, if nothing else is read.
        indirect case header(ImageInfo)
        case failure(any Error)
    }

    let entry: ListEntry
    let slot: LoadSlot
    /// The time at which the line was started.
    let start = ContinuousClock.now
    /// The plan of a line with options of its own; `nil` for the plan of all others.
    var plan: OutputPlan?
    /// The value for ``AttemptCounter/end(_:)``; `nil` if there was no request.
    var requestedURL: String?
    /// `nil` if the line has no URL, or its download has not begun.
    var beginning: Beginning?
    /// The file of the image while it waits on disk.
    var storedFile: UnfinishedFile?

    init(_ entry: ListEntry, slot: LoadSlot) {
        (self.entry, self.slot) = (entry, slot)
    }
}
