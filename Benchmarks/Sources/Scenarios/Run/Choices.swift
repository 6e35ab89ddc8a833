public import ArgumentParser
public import Engines

/// Parameters of cases that are chosen on the command line.
struct Choices: Sendable {
    /// The round-trip times in milliseconds; empty for those of the scenario.
    var roundTrips: [Int] = []
    /// The limits that are measured in addition to the default ones of this package.
    var limits: [EngineLimits] = []
}

extension EngineLimits: ExpressibleByArgument {
    /// Creates limits from `TOTAL/PERHOST`, or from `TOTAL` for the same limit per host.
    public init?(argument: String) {
        let numbers = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(numbers.count), let total = numbers[0], let perHost = numbers[numbers.count - 1],
            total > 0, perHost > 0
        else { return nil }
        self.init(total: total, perHost: perHost)
    }

    /// The limits as on the command line.
    var words: String { "\(total)/\(perHost)" }
}
