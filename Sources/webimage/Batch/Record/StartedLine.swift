import AsyncWebImage

/// A line of a list whose download has been started.
///
/// Not `Sendable`: used only by the task of the line.
final class StartedLine {
    /// The beginning of a download.
    enum Beginning {
        /// The body, whose first piece has arrived.
        case body(DownloadedPieces)
        /// The header of the image, if nothing else is read.
        indirect case header(ImageInfo)
        case failure(any Error)
    }

    /// The time at which the line was started.
    let start = ContinuousClock.now
    /// The plan of a line with options of its own; `nil` for the plan of all others.
    var plan: OutputPlan?
    /// The value for ``ConversionPlaces/end(_:)``; `nil` if there was no request.
    var place: String?
    /// `nil` if the line has no URL.
    var beginning: Beginning?
}
