import FoundationEssentials

/// The function that libFuzzer calls with every input that it generates.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// The operation for an input, selected by the environment variable `FUZZ_TARGET`; a format is one way to decode.
private let target: @Sendable ([UInt8]) -> Void = {
    switch ProcessInfo.processInfo.environment["FUZZ_TARGET"] {
    case "animation": play
    case "encode": encode
    case "verify": verify
    case "head": readHead
    case "response": readResponse
    case "fields": readFields
    case "frames": receiveFrames
    case "challenge": readChallenges
    case "location": followLocation
    case "connection": exchange
    case "cache": openEntry
    case "cookies": readCookies
    case "list": readList
    default: decode
    }
}()

/// The bytes as text, damaged UTF-8 repaired.
func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

extension Collection where Element == UInt8 {
    /// The lines, without their ends; the last one may be empty.
    var lines: [SubSequence] { split(separator: 0x0A, omittingEmptySubsequences: false) }
}
