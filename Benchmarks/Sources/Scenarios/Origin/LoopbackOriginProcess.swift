import ArgumentParser
import Glibc
import LoopbackOrigin
import Subprocess

/// The library's test origin in its own process, for machines without nginx.
enum LoopbackOriginProcess {
    static func serving<Result: Sendable>(
        _ folder: FixtureFolder, _ body: (Origin) async throws -> Result
    ) async throws -> Result {
        try await ChildProcess.running(ChildProcess.ownPath(), ["origin", folder.path]) { lines in
            for try await line in lines {
                guard let port = UInt16(line.filter(\.isNumber)) else { break }
                return try await body(Origin(port: port))
            }
            throw OriginError(description: "the origin does not start")
        }
    }
}

/// The command of the process, which prints its port and serves files until it is killed.
struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origin", abstract: "Serve the files of a folder on a free port.", shouldDisplay: false)

    @Argument(help: "The path of the folder.")
    var folder: String

    func run() async throws {
        let origin = try await LoopbackOrigin.start()
        try Self.serve(folder, on: origin)
        StandardStream.write("\(origin.port)\n", to: STDOUT_FILENO)
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }

    /// Serves the files of `folder` and the status of `origin` at the paths that ``Origin`` describes.
    static func serve(_ folder: String, on origin: LoopbackOrigin) throws {
        var files: [String: LoopbackOrigin.Response] = [:]
        for name in try File.names(in: folder) {
            files[name] = LoopbackOrigin.Response(
                headerFields: ["Content-Type": "image/jpeg"], body: try File.read("\(folder)/\(name)"))
        }
        for (name, file) in files { origin.route("/\(name)", file) }
        origin.route("/at/*") { [files] request in
            let parts = request.path.split(separator: "/")
            guard parts.count == 3, let rate = Int(parts[1]), let file = files[String(parts[2])] else {
                return LoopbackOrigin.Response(status: 404)
            }
            return file.paced(bytesPerSecond: rate, chunk: 4_096)
        }
        origin.route("/\(Origin.statusName)") { [unowned origin] _ in
            let counts = origin.counts
            let text = OriginStatus.text(
                openConnections: counts.openConnections, accepted: counts.openedConnections,
                requests: counts.totalRequests, running: counts.runningRequests)
            return LoopbackOrigin.Response(body: Array(text.utf8))
        }
    }
}
