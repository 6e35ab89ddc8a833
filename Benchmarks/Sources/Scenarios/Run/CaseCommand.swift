import ArgumentParser

/// The command that a child process runs to measure one case once.
struct CaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "case", abstract: "Measure one case in this process.", shouldDisplay: false)

    @Argument(help: "The name of the scenario.")
    var scenario: String

    @Argument(help: "The case and its site, as JSON.")
    var order: String

    func run() async throws {
        guard let scenario = Catalog.scenario(named: scenario) else {
            throw ValidationError("There is no scenario '\(scenario)'.")
        }
        print(try await Self.measure(scenario, order))
    }

    private static func measure<S: Scenario>(_ scenario: S.Type, _ text: String) async throws -> String {
        let order = try JSON.value(CaseOrder<S.Case, S.Site>.self, from: text)
        return try JSON.text(of: try await S.measure(order.subject, at: order.site))
    }
}
