/// Colors that are declared by code points (ITU-T H.273), as in PNG and AVIF.
///
/// The gamuts of BT.601, BT.709, and BT.2020, and Display P3 are supported, and the curves of these, PQ, and HLG.
package enum CodedColors {
    /// The code point for "unspecified".
    private static let unspecified = 2

    /// Returns an ICC profile for the code points; `nil` for sRGB, which unspecified ones are taken for, and an empty one
    /// if they are not supported.
    package static func profile(primaries: Int, transfer: Int) -> [UInt8]? {
        let source = source(
            primaries: primaries == unspecified ? 1 : primaries, transfer: transfer == unspecified ? 13 : transfer)
        if source == .sRGB { return nil }
        return ColorProfileHandle(source)?.bytes ?? []
    }

    /// Returns the color source for the code points, which can be unusable.
    static func source(primaries: Int, transfer: Int) -> ColorSource {
        guard let primaries = Self.primaries(primaries), let curve = curve(transfer) else { return .unusable }
        let isSRGB = primaries == .bt709 && curve == .sRGB
        return isSRGB ? .sRGB : .primaries(PrimariesSpace(primaries: primaries, curve: curve))
    }

    private static func primaries(_ code: Int) -> PrimariesSpace.Primaries? {
        switch code {
        case 1: .bt709
        case 5: .bt601With625Lines
        case 6, 7: .bt601With525Lines
        case 9: .bt2020
        case 12: .displayP3
        default: nil
        }
    }

    private static func curve(_ code: Int) -> PrimariesSpace.Curve? {
        switch code {
        case 1, 6, 14, 15: .bt709
        case 4: .power(gamma: 2.2)
        case 5: .power(gamma: 2.8)
        case 8: .linear
        case 13: .sRGB
        case 16: .highDynamicRange(.perceptualQuantizer)
        case 18: .highDynamicRange(.hybridLogGamma)
        default: nil
        }
    }
}
