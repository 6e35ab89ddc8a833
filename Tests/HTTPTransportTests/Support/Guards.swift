import Foundation
import LoopbackOrigin

extension LoopbackOrigin {
    /// Serves `body` at `path` only to `user` with `password`, by Basic authentication.
    func guardByBasic(_ path: String, user: String = "me", password: String = "secret", body: [UInt8] = [1]) {
        let right = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        route(path) { request in
            if request.headerFields["authorization"] == right { return Response(body: body) }
            return Response(
                status: 401, headerFields: ["WWW-Authenticate": "Basic realm=\"files\""], body: Array("no".utf8))
        }
    }

    /// Serves `body` at `path` only to `user` with `password`, by Digest authentication (RFC 7616).
    func guardByDigest(
        _ path: String, _ hash: Hash, user: String = "me", password: String = "secret", body: [UInt8] = [1]
    ) {
        let nonce = "0123456789abcdef\(port)"
        let realm = "photos"
        route(path) { request in
            let fields = Self.digestFields(request.headerFields["authorization"] ?? "")
            let first = hash("\(user):\(realm):\(password)")
            let second = hash("\(request.method):\(request.target)")
            let parts = [nonce, fields["nc"], fields["cnonce"], "auth", second].map { $0 ?? "" }
            let right = hash(([first] + parts).joined(separator: ":"))
            if fields["response"] == right, fields["nonce"] == nonce, fields["uri"] == request.target {
                return Response(body: body)
            }
            let challenge =
                "Digest realm=\"\(realm)\", qop=\"auth\", algorithm=\(hash.rawValue), nonce=\"\(nonce)\""
            return Response(status: 401, headerFields: ["WWW-Authenticate": challenge], body: Array("no".utf8))
        }
    }

    private static func digestFields(_ value: String) -> [String: String] {
        guard value.hasPrefix("Digest ") else { return [:] }
        var fields: [String: String] = [:]
        for part in value.dropFirst(7).split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " \""))
            }
            if pair.count == 2 { fields[pair[0]] = pair[1] }
        }
        return fields
    }
}
