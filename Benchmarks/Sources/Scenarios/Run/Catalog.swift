/// All scenarios, in the order in which they run.
enum Catalog {
    static let scenarios: [any Scenario.Type] = [
        Throughput.self, Hosts.self, Distance.self, Storm.self, Cancel.self, Mixed.self, Progressive.self, Decode.self,
        DecodeLoop.self, Formats.self, Transform.self, Resources.self, StartUp.self, Pipeline.self, Shards.self,
        Cache.self, Files.self,
    ]

    static func scenario(named name: String) -> (any Scenario.Type)? {
        scenarios.first { $0.name == name }
    }

    static var names: String { scenarios.map { $0.name }.joined(separator: ", ") }

    /// Returns the names of all engines of these scenarios, in order of first appearance.
    static func engines(in scenarios: [any Scenario.Type] = scenarios) -> [String] {
        var names: [String] = []
        for scenario in scenarios {
            for name in engines(of: scenario) where !names.contains(name) { names.append(name) }
        }
        return names
    }

    private static func engines<S: Scenario>(of scenario: S.Type) -> [String] {
        S.cases(.full).map(\.implementation)
    }
}
