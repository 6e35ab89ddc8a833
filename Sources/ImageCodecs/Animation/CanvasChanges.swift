/// The areas of a canvas that changed since a frame was last rendered from it, as a few rectangles.
struct CanvasChanges {
    /// Iterating over more would take longer than it saves.
    private static let maximumCount = 4

    /// A Boolean value that indicates whether everything was cleared before the rectangles were painted.
    var wasCleared: Bool
    private(set) var rectangles: [PixelRectangle] = []

    /// Creates an empty set of changes; `wasCleared` indicates that everything was cleared.
    init(wasCleared: Bool) {
        self.wasCleared = wasCleared
    }

    /// Adds a rectangle, merging rectangles if their union is no larger than the two.
    mutating func add(_ rectangle: PixelRectangle) {
        var added = rectangle
        rectangles.removeAll { known in
            let union = known.union(added)
            guard union.size.area <= known.size.area + added.size.area else { return false }
            added = union
            return true
        }
        rectangles.append(added)
        guard rectangles.count > Self.maximumCount else { return }
        rectangles = [rectangles.reduce(added) { $0.union($1) }]
    }
}
