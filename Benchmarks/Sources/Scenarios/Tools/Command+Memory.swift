extension Command {
    /// What it used, and the most memory, in bytes, that one of its processes held at a time.
    ///
    /// A process inherits that figure from the one that starts it, if that is larger than it ever gets itself; so
    /// somebody small has to start it. Nil where GNU time is not installed, who is.
    func runForMemory(scratch: String) throws -> (usage: Usage, peakMemory: Int?) {
        guard let time = try? Tool("time") else { return (try run(), nil) }
        let report = scratch + "/time"
        let usage = try Command(time, ["-f", "%M", "-o", report, tool.path] + arguments).run()
        let kilobytes = String(decoding: try File.read(report), as: UTF8.self).split(whereSeparator: \.isNewline).last
        return (usage, kilobytes.flatMap { Int($0) }.map { $0 * 1_024 })
    }
}
