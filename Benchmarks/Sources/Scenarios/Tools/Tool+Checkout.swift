import FoundationEssentials

extension Tool {
    /// Returns the executable `thumbnail` of this package, which is built beside this one.
    static func thumbnail() throws -> Tool {
        let own = try ChildProcess.ownPath()
        let folder = own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex)
        return try Tool(
            at: folder + "/thumbnail",
            remedy: "swift build -c release --package-path Benchmarks --product thumbnail --static-swift-stdlib")
    }

    /// Returns the command of the checkout that contains this package, or the one at the path in `WEBIMAGE`.
    static func webimage() throws -> Tool {
        if ProcessInfo.processInfo.environment["WEBIMAGE"] != nil { return try Tool("webimage", variable: "WEBIMAGE") }
        let own = try ChildProcess.ownPath()
        let checkout = own.firstRange(of: "/Benchmarks/.build/").map { own[..<$0.lowerBound] } ?? "."
        return try Tool(
            at: checkout + "/.build/release/webimage",
            remedy: "build it with make release, or set WEBIMAGE=PATH")
    }
}
