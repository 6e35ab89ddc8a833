import WebimageConsole
import ArgumentParser
import AsyncWebImage

import Glibc

extension GetCommand {
    func run() async throws {
        do {
            try await getAll()
        } catch let error as UnusableList {
            Terminal.error.tell("webimage: \(error.description.printable)\n")
            throw ExitCode(64)
        }
    }

    private func getAll() async throws {
        let target = try target
        let writesToOutput = target == .stream(nil)
        if writesToOutput, isatty(STDOUT_FILENO) == 1 {
            throw ValidationError("Standard output is a terminal: send it to a program or a file.")
        }
        let budget = try OpenFileBudget.reserve(openFiles)
        let list = try input.map {
            try BatchList(path: $0, for: BatchList.Purpose(reader: .get, requiresEntries: true))
        }
        // Before a folder is made; what is written to a pipe may depend on the first results.
        if let list, list.isRegular { try await list.check() }
        let output = try ImageOutput(target)
        defer { output.folder.removeIfEmpty() }
        let previews = try progressiveDir.map { try OutputFolder(path: $0) }
        defer { previews?.removeIfEmpty() }
        var transport = network.transport
        transport.cookieFile = requests.cookieFile
        transport.keepIdleConnections(of: budget.images)
        transport.maximumConnections = budget.connections
        let meter = TransferMeter(over: CurlTransport(configuration: transport))
        let workers = ThreadPool()
        let plan = plan
        // Encoding at full size can take hundreds of megabytes per image: limit the number of concurrent ones.
        let concurrency = plan.holdsFullSize ? min(budget.images, 2 * workers.count) : budget.images
        let hasCache = cache.folder != nil
        var configuration = try loaderConfiguration(concurrency: budget.images)
        configuration.trimsUnderMemoryPressure = budget.observesMemoryPressure
        let loader = ImageLoader(configuration: configuration, transport: meter)
        let fetcher = ImageFetcher(
            loader: loader,
            meter: meter,
            output: output,
            naming: ImageNaming(template: name, usesHeader: remoteHeaderName),
            previews: previews,
            plan: plan,
            workers: workers,
            memory: memoryLimits,
            handlesCookies: requests.cookies != nil)
        let display = ProgressDisplay(
            printsJSON: json, meter: meter, output: writesToOutput ? .error : .output)
        let sources = ImageSources(arguments: sources.map { ImageSource(argument: $0) }, list: list)
        let run = SourceRun(fetcher: fetcher, display: display, count: concurrency)

        try await Interruption.cancelling {
            var end: (any Error)?
            do {
                try await run.run(sources)
            } catch {
                end = error
            }
            // Writes pending responses, including interrupted ones, to disk before the process ends.
            if hasCache { await fetcher.loader.shutdown(gracePeriod: .zero) }
            // In this task, because a signal must end the process even while nothing reads the last results.
            do throws(FileError) { try await display.close() } catch { end = end ?? error }
            if let end { throw end }
        }
        if await display.failed > 0 { throw ExitCode.failure }
    }
}
