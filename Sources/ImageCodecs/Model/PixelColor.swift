/// A color in sRGB with straight (not premultiplied) alpha, 8 bits each.
public struct PixelColor: Sendable, Hashable, CustomStringConvertible {
    /// The red component.
    public var red: UInt8
    /// The green component.
    public var green: UInt8
    /// The blue component.
    public var blue: UInt8
    /// The opacity, from 0 (transparent) to 255.
    public var alpha: UInt8

    /// Creates a color, opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Opaque white.
    public static let white = PixelColor(red: 255, green: 255, blue: 255)
    /// Opaque black.
    public static let black = PixelColor(red: 0, green: 0, blue: 0)
    /// Transparent black.
    public static let clear = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)

    /// The components as in CSS, such as `#ff8000`; followed by those of alpha unless it is 255.
    public var description: String {
        let components = [red, green, blue] + (alpha == 255 ? [] : [alpha])
        return components.reduce("#") { text, component in
            let digits = String(component, radix: 16)
            return text + (digits.count == 1 ? "0" : "") + digits
        }
    }
}
