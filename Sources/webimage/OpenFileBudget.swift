import AsyncWebImage
import Threading
import WebimageConsole

/// The distribution of file descriptors between the parts of the process, so that none takes those that another
/// needs.
struct OpenFileBudget: Equatable {
    /// The number of images processed at a time.
    let images: Int
    /// The number of connections, including idle ones.
    let connections: Int

    /// The descriptors of the Swift runtime: its event loop, and two timers.
    private static let runtime = 4
    /// The descriptors opened by a command besides those for images: signals, the pollers and wake-ups of each thread
    /// of the transport and of libcurl, and the list.
    private static let atStart = 3 + 4 * CurlTransport.Configuration().threadCount + 1
    /// The minimum for the system's resolver, and for files that are open only briefly.
    private static let besides = 4
    /// An image's connection and its output file.
    private static let perImage = 2

    /// The minimum number of descriptors needed to get one image.
    static let minimum = runtime + atStart + besides + perImage
    /// The number of descriptors to which the limit of the process is raised.
    static let maximum = 4_096

    /// Distributes `free` descriptors for `images` images at a time, or as many as possible, after the runtime has
    /// its own.
    ///
    /// `cacheFiles` is the number of cache files per image. Returns `nil` if there are not enough descriptors for one
    /// image.
    init?(free: Int, images: Int, cacheFiles: Int = 0) {
        let lookups = min(128, free / 8)
        let shared = free - Self.atStart - max(Self.besides, lookups)
        let perImage = Self.perImage + cacheFiles
        guard shared >= perImage else { return nil }
        self.images = min(images, shared / perImage)
        connections = shared - self.images * (perImage - 1)
    }
}

extension OpenFileBudget {
    /// Prepares the process: raises its limit as far as useful, and opens the timer of the Swift runtime, without
    /// which the process would be terminated when a task first sleeps.
    ///
    /// Throws an error if not even one image could be processed.
    static func prepareProcess() async throws(FileError) {
        OpenFileLimit.raise(to: maximum)
        guard free >= minimum else {
            throw FileError(
                description:
                    "this process can open at most \(OpenFileLimit.current) files; \(free) remain, and \(minimum) are "
                    + "needed (see ulimit -n)")
        }
        try? await Task.sleep(for: .nanoseconds(1))
    }

    /// The number of descriptors that can still be opened.
    static var free: Int { OpenFileLimit.free(below: maximum) }

    /// Distributes the remaining descriptors for `images` images at a time; notifies the user if that number must be
    /// reduced.
    static func reserve(images: Int, cacheFiles: Int = 0) throws(FileError) -> OpenFileBudget {
        guard let budget = OpenFileBudget(free: free, images: images, cacheFiles: cacheFiles) else {
            throw FileError(
                description:
                    "this process can open at most \(OpenFileLimit.current) files; \(free) remain, which is too few for "
                    + "one image (see ulimit -n)")
        }
        if budget.images < images {
            Terminal.error.tell(
                "webimage: \(budget.images) images at a time instead of \(images), "
                    + "because this process can open at most \(OpenFileLimit.current) files (see ulimit -n)\n")
        }
        return budget
    }
}
