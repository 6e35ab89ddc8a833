import AsyncWebImage
import HTTPTransport
import Threading
import WebimageConsole

/// The distribution of file descriptors between the parts of the process, so that none takes those that another
/// needs.
struct OpenFileBudget: Equatable {
    /// The files that a command opens.
    struct Needs {
        /// The number of images processed at a time; fewer are enough.
        var images: Int
        /// The number of files of an image while it has a connection, such as its output file.
        var filesPerImage = 1
        /// The number of files that are always open, such as the list.
        var files = 1
        /// The number of files of images that have no connection anymore; fewer are enough.
        var filesOfCompleteBodies = 0
        /// The number of shards that are being made; fewer are enough.
        var shards = 0
        /// The number of files of a shard that is being made.
        var filesPerShard = 0
    }

    /// The number of images processed at a time.
    let images: Int
    /// The number of connections, including idle ones.
    let connections: Int
    /// The number of files of images that have no connection anymore.
    let filesOfCompleteBodies: Int
    /// The number of shards that are being made.
    let shards: Int
    /// A Boolean value that indicates whether there are descriptors to observe memory pressure.
    let observesMemoryPressure: Bool

    /// The descriptors of the Swift runtime: its event loop with a wake-up, and two timers.
    private static let runtime = 4
    /// The descriptors opened by every command: signals, and the pollers and wake-ups of each thread of the transport
    /// and of libcurl.
    private static let atStart = 3 + 4 * CurlTransport.Configuration().threadCount
    /// The descriptors for files that are open only briefly.
    ///
    /// Among them is a file with the state of a thread: once a second, Dispatch opens it for each of its threads, and
    /// ends the process if it cannot.
    private static let briefly = 2
    /// The minimum for the system's resolver.
    private static let lookups = 2
    /// The descriptors to observe memory pressure, and the number of free ones below which this is not worth them.
    private static let memoryPressure = (count: 2, minimumFree: 40)

    /// The minimum number of descriptors needed to get one image: besides those above, for a list, a connection, and an
    /// output file.
    static let minimum = runtime + atStart + briefly + lookups + 3
    /// The number of descriptors to which the limit of the process is raised.
    static let maximum = 4_096

    /// Distributes `free` descriptors, after the runtime has its own.
    ///
    /// Shards take at most half of what is not needed otherwise, unless there is only one. Returns `nil` if there are
    /// not enough descriptors for one image and one shard.
    init?(free: Int, _ needs: Needs) {
        observesMemoryPressure = free >= Self.memoryPressure.minimumFree
        var rest = free - Self.atStart - Self.briefly - max(Self.lookups, free / 8) - needs.files
        if observesMemoryPressure { rest -= Self.memoryPressure.count }
        let perImage = 1 + needs.filesPerImage
        guard rest >= perImage + (needs.shards > 0 ? needs.filesPerShard : 0) else { return nil }
        let most = needs.filesPerShard > 0 ? max(1, rest / 2 / needs.filesPerShard) : .max
        shards = min(needs.shards, most)
        rest -= shards * needs.filesPerShard
        images = min(needs.images, rest / perImage)
        rest -= images * perImage
        filesOfCompleteBodies = min(needs.filesOfCompleteBodies, rest / 2)
        connections = images + rest - filesOfCompleteBodies
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
        await RuntimeTimer.opening?.value
    }

    /// The number of descriptors that can still be opened.
    static var free: Int { OpenFileLimit.free(below: maximum) }

    /// Distributes the remaining descriptors; notifies the user if the number of images must be reduced.
    static func reserve(_ needs: Needs) throws(FileError) -> OpenFileBudget {
        guard let budget = OpenFileBudget(free: free, needs) else {
            throw FileError(
                description:
                    "this process can open at most \(OpenFileLimit.current) files; \(free) remain, which is too few for "
                    + "one image\(needs.shards > 0 ? " and one shard" : "") (see ulimit -n)")
        }
        if budget.images < needs.images {
            Terminal.error.tell(
                "webimage: \(budget.images) images at a time instead of \(needs.images), "
                    + "because this process can open at most \(OpenFileLimit.current) files (see ulimit -n)\n")
        }
        return budget
    }
}
