import Testing

@testable import Scenarios

@Suite struct CatalogTests {
    @Test func everyScenarioHasDistinctCasesThatAChildUnderstands() throws {
        for scenario in Catalog.scenarios { try check(scenario) }
    }

    private func check<S: Scenario>(_ scenario: S.Type) throws {
        for extent in [Extent.full, .quick] {
            let cases = S.cases(extent)
            #expect(!cases.isEmpty)
            #expect(Set(cases).count == cases.count)
            #expect(Set(cases.map { $0.heading + $0.engine }).count == cases.count)
            #expect(try JSON.value([S.Case].self, from: JSON.text(of: cases)) == cases)
        }
    }

    @Test func scenarioNamesAreDistinct() {
        let names = Catalog.scenarios.map { $0.name }
        #expect(Set(names).count == names.count)
        let nothing = Catalog.scenario(named: "nothing").map { $0.name }
        #expect(nothing == nil)
    }

    @Test func enginesOfAllScenariosAreListedOnce() {
        #expect(Set(Catalog.engines()).count == Catalog.engines().count)
        #expect(Catalog.engines().contains("actor"))
        #expect(Catalog.engines().contains("plain-decode"))
    }
}
