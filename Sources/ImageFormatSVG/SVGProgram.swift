#if SVG
import Glibc
import ImageCodecs

/// Finds the program `webimage-svg`.
enum SVGProgram {
    private static let name = "webimage-svg"

    /// Returns `path`, or the program in the folder of this one, or in one of `PATH`.
    static func path(_ path: String?) throws(CodecError) -> String {
        let found = path.map { [$0] } ?? candidates
        guard let program = found.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw .unsupportedFeature(
                .svg,
                "\(path ?? name) is not installed: build it with the trait SVG, and install it beside this program")
        }
        return program
    }

    private static var candidates: [String] {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &target, target.count)
        let own = String(decoding: target.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = own.lastIndex(of: "/").map { String(own[..<$0]) }
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
        let folders =
            [folder].compactMap(\.self) + path.split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
        return folders.map { "\($0)/\(name)" }
    }
}
#endif
