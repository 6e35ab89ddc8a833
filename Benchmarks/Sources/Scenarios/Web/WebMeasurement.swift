/// The measurements of a list of downloads, with those of the origin's log.
enum WebMeasurement {
    /// The columns of scenarios with such measurements.
    static let columns = [
        Column("s", .wall, per: 1_000, decimals: 2),
        .spread("least-most", .wall, per: 1_000, decimals: 2),
        Column("CPU ms", .cpuPerRequest, per: 1_000, decimals: 2),
        Column("conn.", .connections),
        Column("res.", .resumed),
        Column("MB", .peakMemory, per: 1e6),
        Column("of limit", .ratioToLimit, decimals: 2),
        Column("CPU", .cpuRatioToLoop, decimals: 2),
    ]

    /// Runs the load, and checks that the origin has sent every body, all with the expected version of HTTP.
    static func measure(_ load: WebLoad, on engine: WebEngine, bodyBytes: Int) async throws -> Measurements {
        let offset = try load.origin.log.map { try File.read($0).count } ?? 0
        let run = try await load.run(on: engine)
        if let bytes = run.bodyBytes {
            try Mismatch.check("bytes of bodies", bytes, is: load.urls.count * bodyBytes)
        }
        var measurements = Measurements()
        measurements[.wall] = run.usage.wall.milliseconds
        measurements[.requestsPerSecond] = Double(load.urls.count) / run.usage.wall.seconds
        measurements[.cpuPerRequest] = run.usage.cpu.microseconds / Double(load.urls.count)
        measurements[.peakMemory] = run.peakMemory.map(Double.init)
        if let path = load.origin.log {
            let log = try await OriginLog.read(path, from: offset, requests: load.urls.count)
            try Mismatch.check("successful requests", log.successes, is: load.urls.count)
            let expected = load.web.loggedVersions
            guard log.versions == [expected] else {
                throw Mismatch(description: "\(log.versions.joined(separator: ", ")) instead of \(expected)")
            }
            measurements[.connections] = Double(log.connections)
            measurements[.resumed] = Double(log.resumed)
        }
        return measurements
    }

    /// Returns the rate and the CPU time of a case, relative to those of `limit`.
    static func ratios(of measurements: Measurements?, to limit: Measurements?) -> Measurements {
        var ratios = Measurements()
        ratios[.ratioToLimit] = measurements.ratio(of: .requestsPerSecond, to: limit)
        ratios[.cpuRatioToLoop] = measurements.ratio(of: .cpuPerRequest, to: limit)
        return ratios
    }
}

extension Metric {
    /// The number of connections that the origin has seen.
    static let connections = Metric(rawValue: "connections")
    /// The number of these connections whose TLS session was resumed.
    static let resumed = Metric(rawValue: "resumed_connections")
}
