/// The resources that an engine has not released after its shutdown.
struct Leftovers: Sendable {
    /// The number of connections that are open at the origin.
    let connections: Int
    /// The number of additional open files, including sockets.
    let files: Int

    private static let patience = Duration.seconds(3)

    /// Waits until no resources remain, for a few seconds at most, and returns those that do.
    static func settled(origin: Origin, filesBefore: Int) async throws -> Leftovers {
        let deadline = ContinuousClock.now + patience
        while true {
            let left = Leftovers(
                connections: try origin.status().openConnections, files: try OpenFiles.count() - filesBefore)
            if (left.connections == 0 && left.files <= 0) || .now >= deadline { return left }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

/// The open files and sockets of this process.
enum OpenFiles {
    static func count() throws -> Int {
        try File.names(in: "/proc/self/fd").count
    }
}
