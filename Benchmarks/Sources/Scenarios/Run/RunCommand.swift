import ArgumentParser
import Engines

/// The command that measures scenarios.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Measure scenarios and show the medians of all repetitions.",
        discussion: """
            Every case runs in its own process. Each repetition measures every case once, so that a temporary \
            disturbance of the machine affects all engines. Compare only figures from the same run, preferably by \
            their ratios.

            Scenarios:
            \(Catalog.scenarios.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))

            Engines: \(Catalog.engines().joined(separator: ", ")).

            Tools that are not installed have no results. The environment variable WEBIMAGE is the path of webimage \
            (default: the executable that make release builds), and IMG2DATASET is the path of img2dataset (default: \
            the one in PATH). TRANSPORT_THREADS is the number of transfer threads of the actor engine.
            """)

    @Option(name: .long, help: ArgumentHelp("Run only this scenario; can be repeated.", valueName: "name"))
    var scenario: [String] = []

    @Option(name: .long, help: ArgumentHelp("Run only this engine; can be repeated.", valueName: "name"))
    var engine: [String] = []

    @Flag(help: "Run fewer sizes, requests, and repetitions, in less than ten minutes.")
    var quick = false

    @Option(help: ArgumentHelp("The number of repetitions. (default: 5, or 3 with --quick)", valueName: "number"))
    var repetitions: Int?

    @Option(
        help: ArgumentHelp(
            "A round-trip time of the scenario distance, in milliseconds; can be repeated. (default: 20 and 50)",
            valueName: "ms"))
    var roundTrip: [Int] = []

    @Option(
        help: ArgumentHelp(
            "Also run the actor engine with these limits on transfers in the scenario distance; can be repeated.",
            valueName: "total/per-host"))
    var limits: [EngineLimits] = []

    @Option(
        help: ArgumentHelp(
            "Write rows as JSON, one object per line; - replaces the tables on standard output.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("The folder in which generated files are kept.", valueName: "folder"))
    var fixtures: String = FixtureFolder.defaultPath

    func validate() throws {
        for name in scenario where Catalog.scenario(named: name) == nil {
            throw ValidationError("There is no scenario '\(name)'. There are: \(Catalog.names).")
        }
        let engines = Catalog.engines(in: scenarios)
        for name in engine where !engines.contains(name) {
            let place = scenario.isEmpty ? "" : " in \(scenario.joined(separator: ", "))"
            throw ValidationError(
                "There is no engine '\(name)'\(place). There are: \(engines.joined(separator: ", ")).")
        }
        guard roundTrip.allSatisfy((0...10_000).contains) else {
            throw ValidationError("--round-trip must be 0 to 10000.")
        }
        guard (1...1_000).contains(repetitions ?? 1) else {
            throw ValidationError("--repetitions must be 1 to 1000.")
        }
    }

    func run() async throws {
        let driver = Driver(
            extent: quick ? .quick : .full, choices: Choices(roundTrips: roundTrip, limits: limits),
            repetitions: repetitions ?? (quick ? 3 : 5), engines: Set(engine),
            fixtures: try FixtureFolder(path: fixtures), progress: Progress())
        let output = try RowOutput(jsonPath: json)
        do {
            try await Interruption.cancelling {
                for scenario in scenarios {
                    let rows = try await driver.rows(of: scenario)
                    driver.progress.clear()
                    try output.add(rows, of: scenario, repetitions: driver.repetitions)
                }
            }
        } catch let interrupted as Interruption.Interrupted {
            driver.progress.clear()
            throw ExitCode(interrupted.exitStatus)
        }
    }

    private var scenarios: [any Scenario.Type] {
        Catalog.scenarios.filter { scenario.isEmpty || scenario.contains($0.name) }
    }
}
