import AsyncWebImage
import Dispatch
import FoundationEssentials

import Glibc

/// `ThumbnailService HOST...` serves the images of these hosts, such as `*.example.com`, until SIGTERM.
///
/// The environment contains `PORT` (8080), `TOKEN`, and `CACHE`, a folder; without it, images are stored in memory.
@main
enum Program {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let hosts = CommandLine.arguments.dropFirst().compactMap { HostPattern($0) }
        let configuration = try ImageService.configuration(hosts: hosts, cacheFolder: environment["CACHE"])
        let service = ImageService(configuration, token: environment["TOKEN"])
        let server = try await HTTPServer(port: environment["PORT"].flatMap { Int($0) } ?? 8_080)
        let serving = Task { try await server.run { await service.answer($0) } }

        signal(SIGTERM, SIG_IGN)
        let (termination, continuation) = AsyncStream.makeStream(of: Never.self)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM)
        source.setEventHandler { @Sendable in continuation.finish() }  // not on the main actor
        source.resume()
        for await _ in termination {}
        source.cancel()
        await service.loader.shutdown(gracePeriod: .seconds(10))  // refuses work from now on
        serving.cancel()
    }
}
