import FoundationEssentials

extension Tool {
    /// The executable `thumbnail` of this package, built beside this one.
    static func thumbnail() throws -> Tool {
        let own = try ChildProcess.ownPath()
        let folder = own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex)
        return try Tool(
            at: folder + "/thumbnail",
            remedy: "swift build -c release --package-path Benchmarks --product thumbnail --static-swift-stdlib")
    }

    /// The command of the checkout that this package is part of, or where `WEBIMAGE` says.
    static func webimage() throws -> Tool {
        if ProcessInfo.processInfo.environment["WEBIMAGE"] != nil { return try Tool("webimage", variable: "WEBIMAGE") }
        let own = try ChildProcess.ownPath()
        let checkout = own.firstRange(of: "/Benchmarks/.build/").map { own[..<$0.lowerBound] } ?? "."
        return try Tool(
            at: checkout + "/.build/release/webimage",
            remedy: "make release builds it; WEBIMAGE=PATH if it is elsewhere")
    }
}
