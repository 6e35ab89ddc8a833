/// A case with its results, as a line of a table or an object in JSON.
struct Row: Sendable {
    let scenario: String
    let subject: any ScenarioCase
    let summaries: [Metric: Summary]
    let repetitions: Int
    /// The reason why a repetition failed, if one did; the other repetitions are valid.
    let failure: String?

    subscript(metric: Metric) -> Summary? { summaries[metric] }
}

extension Row: Encodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    /// Encodes the parameters of the case and the results.
    ///
    /// Keys that charts and scripts rely on are first encoded as null, and then overwritten by known values.
    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        for name in ["concurrency", "body_bytes"] + Metric.common.map(\.rawValue) {
            try members.encodeNil(forKey: Key(name))
        }
        try subject.encode(to: encoder)
        try members.encode(scenario, forKey: Key("scenario"))
        try members.encode(repetitions, forKey: Key("repetitions"))
        try members.encode(failure, forKey: Key("failure"))
        for (metric, summary) in summaries {
            try members.encode(summary.median, forKey: Key(metric.rawValue))
            try members.encode(summary.least, forKey: Key(metric.rawValue + "_min"))
            try members.encode(summary.most, forKey: Key(metric.rawValue + "_max"))
        }
    }
}
