/// What has changed on a canvas since a frame was last made of it, as few rectangles.
struct CanvasChanges {
    /// More would take longer to go through than they save.
    private static let maximumCount = 4

    /// A Boolean value that indicates whether everything was cleared before the rectangles were painted.
    var wasCleared: Bool
    private(set) var rectangles: [PixelRectangle] = []

    /// No changes, except that everything may have been cleared.
    init(wasCleared: Bool) {
        self.wasCleared = wasCleared
    }

    /// Adds a rectangle; rectangles that are as small together as apart become one.
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
