/// Which previews of an arriving image are decoded, how large, and what they may cost.
///
/// A preview is decoded only while somebody waits for one and there is something new to show. Its frame tells its size,
/// which scan it is, and how many of its rows have come.
public struct ProgressivePolicy: Sendable, Hashable {
    /// Which states of the image are shown.
    public enum Selection: Sendable, Hashable {
        /// None: only the finished image.
        case none
        /// The first that there is, then the finished image.
        case first
        /// Of progressive images every so many scans, counted from the first; of others as with ``all``.
        case everyScan(Int)
        /// Every scan; of images whose rows come once, the rows so far.
        case all
    }

    /// Which states of the image are shown.
    public var selection: Selection
    /// The shortest time between two previews of one image.
    public var minimumInterval: Duration
    /// The maximum number of pixels on either side of a preview; larger images are shown smaller until they are finished.
    ///
    /// A progressive JPEG is rendered at 1/2, 1/4 or 1/8, in a fraction of the time.
    public var maximumSide: Int
    /// The share of the time spent on decoding the image itself that its previews may take, the first one not counted.
    public var decodingShare: Double
    /// The share of the time since the decode began that its previews may take, where that is more.
    ///
    /// It lets small images, which take hardly any time to decode, show all their scans over a slow connection.
    public var elapsedShare: Double

    /// All scans, at most ten previews a second, of at most 1,920 pixels a side, for no more than a fifth of the time of
    /// the decode or a fiftieth of the time it has been under way.
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
