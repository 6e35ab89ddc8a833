import ArgumentParser

/// The command for users.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Measure, and show the medians of all repetitions.",
        discussion: """
            Every case runs in a process of its own; repetitions take turns, so that what disturbs the machine for a \
            while disturbs all engines. Compare figures of one run only, best by their ratios.

            Scenarios:
            \(Catalog.scenarios.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))

            Engines: \(Catalog.engines().joined(separator: ", ")).

            Tools that are not installed have no figures. The environment variables WEBIMAGE and IMG2DATASET \
            are the paths of two of them; by default, what make release builds, and the one in PATH. \
            TRANSPORT_THREADS is the number of the actor engine's threads for transfers.
            """)

    @Option(name: .long, help: ArgumentHelp("Only this scenario; may be repeated.", valueName: "name"))
    var scenario: [String] = []

    @Option(name: .long, help: ArgumentHelp("Only this engine; may be repeated.", valueName: "name"))
    var engine: [String] = []

    @Flag(help: "Fewer sizes, requests and repetitions: all done within five minutes.")
    var quick = false

    @Option(help: ArgumentHelp("Rounds to run. (default: 5, with --quick 3)", valueName: "number"))
    var repetitions: Int?

    @Option(
        help: ArgumentHelp(
            "Write the rows as JSON, one object a line; - for standard output, instead of tables.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Where the served files are kept.", valueName: "folder"))
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
        guard (1...1_000).contains(repetitions ?? 1) else {
            throw ValidationError("--repetitions must be 1 to 1000.")
        }
    }

    func run() async throws {
        let driver = Driver(
            extent: quick ? .quick : .full, repetitions: repetitions ?? (quick ? 3 : 5), engines: Set(engine),
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
