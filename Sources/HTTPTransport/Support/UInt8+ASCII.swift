extension UInt8 {
    /// A Boolean value that indicates whether the byte is one of the digits 0 to 9.
    package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
