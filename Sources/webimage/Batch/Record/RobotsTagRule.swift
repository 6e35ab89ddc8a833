import AsyncWebImage
import HTTPTransport
import WebimageConsole

/// Refuses images whose response disallows their use by X-Robots-Tag.
///
/// The field is ignored in responses to requests for robots.txt, even after redirects, because it has no meaning there.
struct RobotsTagRule: ResponseValidator, Equatable {
    /// The directives that refuse an image, in lowercase, such as `noai`.
    let disallowed: Set<String>
    /// The names, in lowercase, to which directives for a single robot apply.
    let names: Set<String>

    private static let field = HTTPField.Name("X-Robots-Tag")

    func validate(_ head: ResponseHead, to request: TransportRequest) async throws {
        guard let field = Self.field, request.url.path != RobotsFile.path else { return }
        for value in head.response.headerFields[values: field] {
            if let directive = refusal(in: value) {
                throw ImageRefusal(code: .robotsTag, description: "disallowed by X-Robots-Tag: \(directive)")
            }
        }
    }

    /// Returns the directive of a field's value that refuses the image; `nil` if there is none.
    ///
    /// A value is a list of directives. One in front of which a name and a colon are written applies to that robot
    /// only, as do those after it. `none` includes `noindex`. Dates can contain commas and colons.
    func refusal(in value: String) -> String? {
        var applies = true
        for part in value.split(separator: ",") {
            var directive = part.withoutBlanksAround.lowercased()
            if let colon = directive.firstIndex(of: ":") {
                let name = String(directive[..<colon].withoutBlanksAround)
                guard name.isToken, name != "unavailable_after", !name.hasPrefix("max-") else { continue }
                applies = names.contains(name)
                directive = String(directive[directive.index(after: colon)...].withoutBlanksAround)
            }
            guard applies else { continue }
            if disallowed.contains(directive) { return directive }
            if directive == "none", disallowed.contains("noindex") { return directive }
        }
        return nil
    }
}

extension String {
    /// A Boolean value that indicates whether the text can be the name of a robot.
    fileprivate var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}
