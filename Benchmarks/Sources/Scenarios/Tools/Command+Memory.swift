extension Command {
    /// Runs the command and returns its usage and the peak memory of its largest process, in bytes.
    ///
    /// A process inherits the peak memory of its parent if that is larger, so a small program, GNU time, starts the
    /// command. The peak memory is `nil` if GNU time is not installed.
    func runForMemory(scratch: String) throws -> (usage: Usage, peakMemory: Int?) {
        guard let time = try? Tool("time") else { return (try run(), nil) }
        let report = scratch + "/time"
        let usage = try Command(time, ["-f", "%M", "-o", report, tool.path] + arguments).run()
        let kilobytes = String(decoding: try File.read(report), as: UTF8.self).split(whereSeparator: \.isNewline).last
        return (usage, kilobytes.flatMap { Int($0) }.map { $0 * 1_024 })
    }
}
