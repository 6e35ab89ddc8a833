import Engines

/// The ways to download a list of images from the web.
enum WebEngine: String, CaseIterable, Sendable {
    /// AsyncWebImage through its public API.
    case actor
    /// `webimage get`, which writes each image to a file as it is, with the system's authorities.
    case webimage
    /// The loop in C, with a file of authorities and a connection for each host.
    case curlMulti = "curl-multi"
    /// `curl --parallel` with the system's authorities. Because libcurl's default includes their folder, it parses the
    /// file for each connection, also with `--cacert`.
    case curl
    /// The same, but only with the authority of the run, which costs nothing to parse.
    case curlWithOneAuthority = "curl-1-ca"
    /// swift-server's AsyncHTTPClient alone.
    case asyncHTTPClient = "async-http-client"
    case aria2 = "aria2c"
    /// img2dataset, which writes each image to a file as it is, with a connection for each.
    case img2dataset

    /// The engines that support this version of HTTP.
    static func supporting(_ web: WebProtocol) -> [WebEngine] {
        allCases.filter { web == .http1 || ![.aria2, .img2dataset].contains($0) }
    }

    /// The engine with callers in this process, if it is one.
    var type: (any Engine.Type)? {
        switch self {
        case .actor: EngineName.actor.type
        case .asyncHTTPClient: EngineName.asyncHTTPClient.type
        case .webimage, .curlMulti, .curl, .curlWithOneAuthority, .aria2, .img2dataset: nil
        }
    }
}
