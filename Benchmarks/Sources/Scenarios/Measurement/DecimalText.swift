/// Numbers as readable text, without Foundation's formatters.
enum DecimalText {
    /// Returns `value` with this number of decimal places and with commas between thousands.
    static func text(_ value: Double, decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        guard let scaled = Int(exactly: (abs(value) * scale).rounded()) else { return "-" }
        let sign = value < 0 && scaled > 0 ? "-" : ""
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: Int(scale))
        guard decimals > 0 else { return sign + grouped(whole) }
        let digits = String(fraction)
        return sign + grouped(whole) + "." + String(repeating: "0", count: decimals - digits.count) + digits
    }

    private static func grouped(_ value: Int) -> String {
        var digits = Array(String(value))
        for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
        return String(digits)
    }
}
