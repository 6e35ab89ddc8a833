import AsyncWebImage
import ImageEncoders
import LoopbackOrigin
import TestSupport

/// Images on an origin that responds with every fault it supports, chosen at random from a seed.
struct SoakSite: Sendable {
    typealias Response = LoopbackOrigin.Response

    let origin: LoopbackOrigin
    private let files: [[UInt8]]
    private let seed: UInt64
    /// The responses of hostile servers, each with its own image.
    private let hostile: [HostileAnswer]
    /// Holds answers back until a round is over.
    let gate = Gate()

    private static let tooLarge = [UInt8](repeating: 0, count: SoakRun.maximumBodyBytes + 1)
    /// The header field that marks a body as the file or its beginning.
    static let proof = "X-File"

    /// Returns the files: still images of each format, some of them large, and animations.
    static func makeFiles() throws -> [[UInt8]] {
        let stills = try (0..<24).map { try Samples.file(EncodeOptions.formats[$0 % 4], 60 + $0, 50) }
        let large = try EncodeOptions.formats.map { try Samples.file($0, 300, 200) }
        let animations = try [ImageFormat.gif, .png, .webp].map { format in
            let encoder = try AnimationEncoder(format: format, size: PixelSize(width: 40, height: 30))
            for number in 0..<4 {
                let bytes = Samples.picture(40, 30).bytes.map { $0 &+ UInt8(number * 10) | 3 }
                guard let frame = PixelBuffer(size: PixelSize(width: 40, height: 30), bytes: bytes) else { continue }
                try encoder.append(frame, delay: .milliseconds(10))
            }
            return try encoder.finish()
        }
        return stills + large + animations
    }

    init(_ origin: LoopbackOrigin, files: [[UInt8]], seed: UInt64) {
        self.origin = origin
        self.files = files
        self.seed = seed
        hostile = HostileAnswer.all(files[0])
        origin.route("/*") { [self] in answer($0) }
    }

    /// Returns a random URL of the site.
    func url(_ random: inout SplitMix) -> String {
        let index = Int.random(in: 0..<files.count, using: &random)
        return origin.url("/\(Int.random(in: 0..<20, using: &random) == 0 ? "private-" : "")\(index)")
    }

    /// Returns a random URL that is always answered with the whole image.
    func soundURL(_ random: inout SplitMix) -> String {
        origin.url("/\(Int.random(in: 0..<files.count, using: &random))?whole")
    }

    /// Returns whether the origin may have sent these bytes with this proof.
    func isFile(_ bytes: [UInt8], _ name: String) -> Bool {
        guard let index = Int(name), files.indices.contains(index) else { return false }
        return files[index].starts(with: bytes)
    }

    private func answer(_ request: LoopbackOrigin.Request) -> Response {
        let name = String(request.path.dropFirst().replacing("private-", with: ""))
        guard let index = Int(name), files.indices.contains(index) else { return Response(status: 404) }
        if request.path.hasPrefix("/private-"), request.headerFields["Authorization"] == nil {
            return Response(status: 401, headerFields: ["WWW-Authenticate": "Basic realm=\"soak\""])
        }
        let file = files[index]
        var fields: HeaderFields = [Self.proof: name, "ETag": "\"\(index)\""]
        if index.isMultiple(of: 3) { fields.append("Cache-Control", "max-age=1, stale-if-error=60") }
        if request.headerFields["If-None-Match"] == "\"\(index)\"" {
            return Response(status: 304, headerFields: fields)
        }
        if let range = request.headerFields["Range"], request.headerFields["If-Range"] == "\"\(index)\"",
            let offset = Int(range.dropFirst(6).dropLast()), offset < file.count
        {
            fields.append("Content-Range", "bytes \(offset)-\(file.count - 1)/\(file.count)")
            return Response(status: 206, headerFields: fields, body: Array(file[offset...]))
        }
        if request.query != nil { return Response(headerFields: fields, body: file) }
        var random = SplitMix(seed: seed &+ UInt64(index) << 32 &+ UInt64(request.ordinal))
        return answer(file, fields, request.path, &random)
    }

    private func answer(
        _ file: [UInt8], _ fields: HeaderFields, _ path: String, _ random: inout SplitMix
    ) -> Response {
        let framings: [Response.Framing] = [.contentLength, .contentLength, .chunked, .untilClose]
        let framing = framings[Int.random(in: 0..<framings.count, using: &random)]
        let good = Response(headerFields: fields, body: file, framing: framing)
        let points: [Response.Point] = [
            .start, .insideHead, .body(0), .body(Int.random(in: 0..<file.count, using: &random)), .body(file.count),
        ]
        let point = points[Int.random(in: 0..<points.count, using: &random)]
        switch Int.random(in: 0..<56, using: &random) {
        case 0, 1: return good.cut(at: point)
        case 2, 3: return good.reset(at: point)
        case 4, 5: return hangingUp(good, at: point).stalled(at: point)
        case 6: return hangingUp(good, at: point).held(at: point, until: gate)
        case 7, 8: return good.paused(at: point, for: .milliseconds(Int.random(in: 1...50, using: &random)))
        case 9: return good.paced(bytesPerSecond: 100_000, chunk: 500)
        case 10: return Response(headerFields: fields, body: file, framing: .claimedContentLength(file.count + 100))
        case 11: return Response(headerFields: fields, body: file, framing: .claimedContentLength(file.count / 2))
        case 12: return .raw(Array(file.prefix(200)))
        case 13: return .raw("HTTP/1.1 2000 What\r\n\r\n")
        case 14: return .raw("HTTP/1.1 200 OK\r\nX-Endless: " + String(repeating: "x", count: 400_000))
        case 15: return Response(status: 503, headerFields: ["Retry-After": "0"], body: Array("busy".utf8))
        case 16: return Response(status: 500, body: file)
        case 17: return Response(status: 404, headerFields: ["Content-Type": "text/plain"], body: Array("no".utf8))
        case 18: return Response(status: [204, 205, 206, 304][Int.random(in: 0..<4, using: &random)])
        case 19: return Response(body: [])
        case 20: return Response(body: Array("<html>no image</html>".utf8))
        case 21: return Response(body: Self.tooLarge)
        case 22: return Response(body: Self.tooLarge, framing: .chunked)
        case 23: return .redirect(to: "\(path)?whole")
        case 24: return .redirect(to: path)
        case 25: return .redirect(to: "ftp://127.0.0.1/a")
        case 26: return .redirect(to: "http://127.0.0.1:1/a")
        case 27, 28: return Response(body: damaged(file, &random), framing: framing)
        case 29: return Response(body: Array(file.prefix(Int.random(in: 0..<file.count, using: &random))))
        case 30:
            var response = good
            response.interim = [.init(), .init(status: 103, headerFields: ["Link": "<a>"])]
            return response
        case 31:
            var response = good
            response.headerFields.append("Connection", "close")
            return response
        case 32...39: return hostile[Int.random(in: 0..<hostile.count, using: &random)].response
        case 40: return .redirect(to: "http://user:password@127.0.0.1:\(origin.port)\(path)?whole")
        case 41: return good.followed(by: [0], .endlessly)
        case 42: return Response(body: AnimationBomb.gif(frames: Int.random(in: 2...60, using: &random)))
        case 43: return Response(body: AnimationBomb.webp(frames: Int.random(in: 2...60, using: &random)))
        default: return good
        }
    }

    /// Returns `response`, prepared for a stall at `point`: after a complete body, the client must close the
    /// connection.
    ///
    /// Otherwise the client would keep the connection, and the origin would wait for its next request.
    private func hangingUp(_ response: Response, at point: Response.Point) -> Response {
        guard point == .body(response.body.count), response.framing == .contentLength else { return response }
        var response = response
        response.headerFields.append("Connection", "close")
        return response
    }

    private func damaged(_ file: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var file = file
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            file[Int.random(in: 0..<file.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        return file
    }
}
