import AsyncWebImage

/// Checks lines against the robots.txt of their origins before their images are requested.
///
/// A file is requested once for all lines of its origin, by the loader that also loads the images, so that all limits
/// and rules for requests apply to it. Lines that wait for it occupy no transfer.
actor RobotsCheck {
    /// The maximum number of redirects to a file.
    static let maximumRedirects = 5

    private let loader: ImageLoader
    /// The product token of the crawler.
    private let token: String
    private var known = RobotsCache()
    private var requests: [String: Task<RobotsCache.Outcome, any Error>] = [:]
    private var waiting = 0
    private let start = ContinuousClock.now

    init(loader: ImageLoader, token: String) {
        self.loader = loader
        self.token = token
    }

    /// The number of lines that wait for a file that another line has requested.
    var joinedLines: Int { waiting - requests.count }

    /// Throws ``ImageRefusal`` if robots.txt disallows `url`, or cannot be read.
    ///
    /// Not isolated, so that a file that takes long to match delays only the lines of its origin. Only all lines may be
    /// canceled together: the cancellation of one stops the request for the others of its origin.
    nonisolated func check(_ url: HTTPURL) async throws {
        switch try await outcome(of: url.origin) {
        case .rules(let rules):
            guard rules.allow(url.path + (url.query.map { "?\($0)" } ?? "")) else {
                throw ImageRefusal(code: .robotsText, description: "disallowed by robots.txt")
            }
        case .unreachable(let refusal): throw refusal
        }
    }

    private func outcome(of origin: String) async throws -> RobotsCache.Outcome {
        if let outcome = known.outcome(of: origin, at: ContinuousClock.now - start) { return outcome }
        let request = requests[origin] ?? begin(origin)
        waiting += 1
        defer { waiting -= 1 }
        return try await withTaskCancellationHandler {
            try await request.value
        } onCancel: {
            request.cancel()
        }
    }

    private func begin(_ origin: String) -> Task<RobotsCache.Outcome, any Error> {
        let request = Task {
            defer { requests[origin] = nil }
            let outcome = try await load(origin)
            known.add(outcome, of: origin, at: ContinuousClock.now - start)
            return outcome
        }
        requests[origin] = request
        return request
    }

    /// Requests and parses the file of an origin; throws only if the task is canceled.
    ///
    /// Not isolated, so that a long file delays only the lines of its origin.
    @concurrent nonisolated private func load(_ origin: String) async throws -> RobotsCache.Outcome {
        do {
            return .rules(try await rules(of: origin))
        } catch let error as ImageError where error.code != .cancelled {
            return Self.outcome(of: error)
        } catch {
            throw CancellationError()
        }
    }

    nonisolated private func rules(of origin: String) async throws -> RobotsRules {
        let body = try await loader.bytes(
            for: ImageRequest(
                origin + RobotsFile.path, priority: .high, headerFields: [.accept: "text/plain, */*"]))
        var file: [UInt8] = []
        var pieces = body.makeAsyncIterator()
        while file.count <= RobotsFile.limit {
            if body.head.redirectCount > Self.maximumRedirects { return .none }
            do {
                guard let piece = try await pieces.next() else { break }
                file += piece
            } catch is ImageBytes.StartedOver {
                file = []
            }
        }
        return RobotsFile.rules(of: file, for: token)
    }

    /// Returns the meaning of an error: status 429, status 500 or higher, and a server that cannot be reached disallow
    /// everything; other statuses, too many redirects, and an empty file allow everything.
    static func outcome(of error: ImageError) -> RobotsCache.Outcome {
        if let status = error.httpStatus {
            guard status >= 500 || status == 429 else { return .rules(.none) }
            return .unreachable(
                ImageRefusal(
                    code: .robotsText, description: "robots.txt is not available: \(error.description)",
                    isRetryable: true))
        }
        switch error.code {
        // Without the network, no request follows that could be disallowed.
        case .emptyBody, .redirects, .notCached: return .rules(.none)
        default:
            // The image could not be requested either, so the reason is the same.
            let failure = ImageFailure(error)
            return .unreachable(
                ImageRefusal(
                    code: failure.code, description: "robots.txt: \(failure.message)", isRetryable: failure.isRetryable)
            )
        }
    }
}
