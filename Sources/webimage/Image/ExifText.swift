import AsyncWebImage
import ImageCodecs

/// The Exif data of an image as text: a JSON object whose members have the names of the standard.
///
/// Fractions are strings such as `1/60`, which are exact; several numbers are an array.
enum ExifText {
    /// The maximum number of bytes of the text; fields that do not fit are left out.
    static let maximumBytes = 16 << 10

    /// Returns the text for Exif data; `nil` if they have no fields.
    static func text(of exif: [UInt8]) -> String? {
        guard let fields = ExifReader(exif)?.fields() else { return nil }
        var object = JSONObject()
        var names: Set<String> = []
        var count = 2
        for field in fields {
            let name = field.name ?? "0x" + hexadecimal(field.tag)
            let (key, value) = (JSONObject.quoted(name), json(field.value))
            let length = key.count + value.count + 2
            // The first of several fields counts.
            guard count + length <= maximumBytes, names.insert(name).inserted else { continue }
            count += length
            object.add(rawKey: key, value)
        }
        return names.isEmpty ? nil : object.text
    }

    private static func json(_ value: ExifField.Value) -> [UInt8] {
        switch value {
        case .text(let text): JSONObject.quoted(text)
        case .integers(let numbers): list(numbers.map { "\($0)" })
        case .rationals(let numbers): list(numbers.map { "\"\($0.numerator)/\($0.denominator)\"" })
        // JSON has no other numbers.
        case .reals(let numbers): list(numbers.map { $0.isFinite ? "\($0)" : "null" })
        }
    }

    /// Returns one element itself, or several as an array.
    private static func list(_ elements: [String]) -> [UInt8] {
        Array((elements.count == 1 ? elements[0] : "[" + elements.joined(separator: ",") + "]").utf8)
    }

    private static func hexadecimal(_ tag: Int) -> String {
        let digits = String(tag, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
