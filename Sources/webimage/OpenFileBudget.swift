import WebimageConsole
import Threading

/// How the file descriptors that the process may open are shared out, so that none of its parts takes what another needs.
struct OpenFileBudget: Equatable {
    /// The number of images under way at a time.
    let images: Int
    /// The number of connections, idle ones included.
    let connections: Int

    /// What the Swift runtime opens: its event loop, and two timers.
    private static let runtime = 4
    /// What a command opens at its start: the signals it waits for, what the transport and libcurl wait for and are woken
    /// by, and its list.
    private static let atStart = 3 + 4 + 1
    /// What the system's resolver takes at the least, and what is opened for a moment only.
    private static let besides = 4
    /// An image's connection, and its output file.
    private static let perImage = 2

    /// The number of descriptors without which no image can be got.
    static let least = runtime + atStart + besides + perImage
    /// The number of descriptors that the largest number of images needs.
    static let most = 4_096

    /// The shares of `free` descriptors for `images` images at a time, or as many as there are descriptors for, once the
    /// runtime has its own.
    ///
    /// `cacheFiles` is the number of files that an image takes in a cache. Nil if there are not enough for one image.
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
    /// Prepares the process: raises its limit as far as that is of use, and opens the timer of the Swift runtime, without
    /// which it would end when a task sleeps for the first time.
    ///
    /// Throws if not even one image could be got.
    static func prepareProcess() async throws(FileError) {
        OpenFileLimit.raise(to: most)
        guard free >= least else {
            throw FileError(
                description:
                    "this process may have no more than \(OpenFileLimit.current) files open, of which \(free) are "
                    + "left, and needs \(least): see ulimit -n")
        }
        try? await Task.sleep(for: .nanoseconds(1))
    }

    /// The number of descriptors that can be opened yet.
    static var free: Int { OpenFileLimit.free(below: most) }

    /// The shares of what is left for `images` images at a time; tells the user if there have to be fewer of them.
    static func reserve(images: Int, cacheFiles: Int = 0) throws(FileError) -> OpenFileBudget {
        guard let budget = OpenFileBudget(free: free, images: images, cacheFiles: cacheFiles) else {
            throw FileError(
                description:
                    "this process may have no more than \(OpenFileLimit.current) files open, of which \(free) are "
                    + "left, too few for one image: see ulimit -n")
        }
        if budget.images < images {
            Terminal.error.tell(
                "webimage: \(budget.images) images at a time instead of \(images), "
                    + "as this process may have no more than \(OpenFileLimit.current) files open (see ulimit -n)\n")
        }
        return budget
    }
}
