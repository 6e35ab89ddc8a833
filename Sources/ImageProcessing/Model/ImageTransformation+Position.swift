extension ImageTransformation {
    /// The direction of a reflection.
    public enum Axis: String, Sendable, Hashable, CaseIterable {
        /// Left and right are exchanged.
        case horizontal
        /// Top and bottom are exchanged.
        case vertical
    }

    /// A point of an image, independent of its size: from 0 to 1, from the left and from the top.
    public struct Position: Sendable, Hashable {
        /// The horizontal position: 0 is the left edge, 1 the right edge.
        public let x: Double
        /// The vertical position: 0 is the upper edge, 1 the lower edge.
        public let y: Double

        /// Creates a position; values outside 0 to 1 count as the nearest edge.
        public init(x: Double, y: Double) {
            func unit(_ value: Double) -> Double { value > 0 ? min(value, 1) : 0 }
            (self.x, self.y) = (unit(x), unit(y))
        }

        /// The center.
        public static let center = Position(x: 0.5, y: 0.5)
        /// The middle of the upper edge.
        public static let top = Position(x: 0.5, y: 0)
        /// The middle of the lower edge.
        public static let bottom = Position(x: 0.5, y: 1)
        /// The middle of the left edge.
        public static let left = Position(x: 0, y: 0.5)
        /// The middle of the right edge.
        public static let right = Position(x: 1, y: 0.5)
        /// The upper left corner.
        public static let topLeft = Position(x: 0, y: 0)
        /// The upper right corner.
        public static let topRight = Position(x: 1, y: 0)
        /// The lower left corner.
        public static let bottomLeft = Position(x: 0, y: 1)
        /// The lower right corner.
        public static let bottomRight = Position(x: 1, y: 1)
    }
}

extension ImageTransformation.Position {
    /// The position as a parameter of an identifier.
    var text: String { "\(x),\(y)" }

    /// Returns the offset of a part in a line when both are aligned at `position`, rounded down.
    static func aligned(_ part: Int, in whole: Int, at position: Double) -> Int {
        Int((Double(whole - part) * position).rounded(.down))
    }

    /// Returns the offset of a part of a line whose center is as near to `position` as possible.
    static func centered(_ part: Int, in whole: Int, at position: Double) -> Int {
        min(max(0, Int((Double(whole) * position - Double(part) / 2).rounded())), whole - part)
    }
}
