/// A policy for previews of arriving images: which ones are decoded, at which size, and at what cost.
///
/// A preview is decoded only while a caller waits for one and there is something new to show. It is delivered as an
/// ``ImagePreview``, which contains its pixels, scan, and number of complete rows.
public struct PreviewPolicy: Sendable, Hashable {
    /// The states of an arriving image that are shown as previews.
    public enum Selection: Sendable, Hashable {
        /// No previews: only the final image.
        case none
        /// The first available preview, then the final image.
        case first
        /// For progressive images, the first available scan, then a preview each time at least this number of further
        /// scans has arrived; for other images, the same as ``all``.
        case everyScan(Int)
        /// Every scan of a progressive or interlaced image; for other images, the rows received so far.
        case all
    }

    /// The states that are shown as previews.
    public var selection: Selection
    /// The minimum time between two previews of one image.
    public var minimumInterval: Duration
    /// The maximum side of a preview in pixels; larger images are shown smaller until they are complete.
    ///
    /// A progressive JPEG is rendered at 1/2, 1/4, or 1/8, in a fraction of the time. The previews of requests with
    /// transformations are not limited: they have the size of the result.
    public var maximumSide: Int
    /// The maximum share of the decoding time that can be spent on previews, not counting the first one.
    public var decodingShare: Double
    /// The maximum share of the time since decoding began that can be spent on previews, if that is more than
    /// ``decodingShare`` allows.
    ///
    /// This allows small images, which decode quickly, to show all of their scans over a slow connection.
    public var elapsedShare: Double

    /// Creates a policy.
    ///
    /// By default, all scans are shown, with at most ten previews per second and 1,920 pixels per side, using at most
    /// a fifth of the decoding time or a fiftieth of the time since decoding began, whichever is more.
    public init(
        selection: Selection = .all, minimumInterval: Duration = .milliseconds(100), maximumSide: Int = 1_920,
        decodingShare: Double = 0.2, elapsedShare: Double = 0.02
    ) {
        self.selection = selection
        self.minimumInterval = minimumInterval
        self.maximumSide = maximumSide
        self.decodingShare = decodingShare
        self.elapsedShare = elapsedShare
    }
}
