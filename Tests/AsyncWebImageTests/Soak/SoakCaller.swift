import AsyncWebImage
import HTTPTypes
import TestSupport

/// A caller that requests one image after the other, each by another method, and cancels some.
struct SoakCaller {
    let loader: ImageLoader
    let prefetcher: ImagePrefetcher
    let site: SoakSite
    let tally: SoakTally
    var random: SplitMix

    /// Makes requests until `end`.
    mutating func run(until end: ContinuousClock.Instant) async {
        while ContinuousClock.now < end {
            if oneOf(10) { await askForSoundImage() }
            var request = ImageRequest(site.url(&random))
            request.options.target = .maximumSide([8, 20, 1_000][Int.random(in: 0..<3, using: &random)])
            request.options.allowsPartial = oneOf(4)
            request.options.stopsWhenComplete = oneOf(8)
            request.priority = priority()
            if oneOf(3) {
                let policies = CachePolicy.allCases
                request.cachePolicy = policies[Int.random(in: 0..<policies.count, using: &random)]
            }
            if oneOf(20) { request.credential = .basic(user: "me", password: "secret") }
            if oneOf(50) { request.headerFields[.acceptLanguage] = "de" }
            await ask(request)
        }
    }

    /// Requests a resource that the origin always sends completely: it arrives unless it is canceled or times out.
    private mutating func askForSoundImage() async {
        let request = ImageRequest(site.soundURL(&random), maximumSide: 20)
        await tally.waiting(for: "sound image") {
            do {
                check(try await loader.image(for: request), request)
                tally.succeed()
            } catch {
                tally.failSound(error)
            }
        }
    }

    private mutating func oneOf(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func priority() -> DownloadPriority {
        DownloadPriority.allCases[Int.random(in: 0..<DownloadPriority.allCases.count, using: &random)]
    }

    /// The time for which this caller waits; `nil` for no limit.
    ///
    /// Random times let cancellations occur in as many states as possible.
    private mutating func patience() -> Duration? {
        oneOf(3) ? .microseconds(Int.random(in: 0...30_000, using: &random)) : nil
    }

    private mutating func ask(_ request: ImageRequest) async {
        let choice = Int.random(in: 0..<16, using: &random)
        let names = [
            "task", "data task", "prefetch", "image", "data", "info", "frames", "a frame", "animation", "its frames",
        ]
        let name = names[[0, 0, 1, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9][choice]]
        await tally.waiting(for: name) { await ask(name, request) }
    }

    private mutating func ask(_ name: String, _ request: ImageRequest) async {
        switch name {
        case "task": await handle(loader.imageTask(for: request)) { [self] in check($0, request) }
        case "data task": await handle(loader.dataTask(for: request)) { [self] in check($0, request) }
        case "prefetch": await prefetch(request)
        case "image": await perform { [self] in check(try await loader.image(for: request), request) }
        case "data": await perform { [self] in check(try await loader.data(for: request), request) }
        case "info": await perform { [self] in _ = try await loader.info(for: request) }
        case "frames": await perform { [self] in for try await _ in loader.previews(for: request) {} }
        case "a frame": await perform { [self] in for try await _ in loader.previews(for: request) { break } }
        case "animation":
            await perform { [self] in
                let animation = try await loader.animation(for: request).animation
                for try await frame in loader.play(animation) where frame.repetition > 0 { break }
            }
        default: await perform { [self] in for try await _ in loader.animationFrames(for: request) {} }
        }
    }

    /// Runs `work` in a separate task, which may be canceled.
    private mutating func perform(_ work: @escaping @Sendable () async throws -> Void) async {
        let patience = patience()
        let task = Task { [tally] in
            do {
                try await work()
                tally.succeed()
            } catch {
                tally.fail(error)
            }
        }
        if let patience {
            try? await Task.sleep(for: patience)
            task.cancel()
        }
        await task.value
    }

    /// Waits for a handle whose priority changes, and which may be canceled.
    private mutating func handle<Value>(_ task: LoadTask<Value>, _ check: (Value) -> Void) async {
        let progress = oneOf(4) ? task.progress : nil
        task.priority = priority()
        if let patience = patience() {
            try? await Task.sleep(for: patience)
            task.priority = priority()
            if oneOf(2) { task.cancel() }
        }
        do {
            check(try await task.value)
            tally.succeed()
        } catch {
            tally.fail(error)
        }
        if let progress { for await _ in progress {} }
    }

    private mutating func prefetch(_ request: ImageRequest) async {
        var requests = [request]
        for _ in 0..<5 { requests.append(ImageRequest(site.url(&random), maximumSide: 20)) }
        let task = prefetcher.prefetch(requests)
        if oneOf(4) {
            prefetcher.pause()
            try? await Task.sleep(for: .milliseconds(5))
            prefetcher.resume()
        }
        if let patience = patience() {
            try? await Task.sleep(for: patience)
            task.cancel()
        }
        let result = await task.result
        for _ in 0..<result.progress.finished { tally.succeed() }
        for failure in result.failures { tally.fail(failure.error) }
    }

    private func check(_ response: ImageResponse, _ request: ImageRequest) {
        guard case .maximumSide(let side) = request.options.target else { return }
        let pixels = response.pixels
        guard max(pixels.size.width, pixels.size.height) <= side,
            pixels.bytes.count == pixels.size.width * pixels.size.height * 4
        else { return tally.find("\(pixels.size) for \(request)") }
    }

    private func check(_ data: ResponseBody, _ request: ImageRequest) {
        guard let name = HTTPField.Name(SoakSite.proof).flatMap({ data.head.response.headerFields[$0] }) else { return }
        if !site.isFile(data.bytes, name) { tally.find("wrong bytes of \(request.url), \(data.bytes.count)") }
    }
}
