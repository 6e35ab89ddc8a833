import Testing

@testable import Scenarios

@Suite struct ToolTests {
    @Test func anInstalledToolIsFoundInThePath() throws {
        #expect(try Tool("sh").path.hasSuffix("/sh"))
        #expect(Tool.installed("no-such-tool") == nil)
    }

    @Test func missingToolIsReportedWithRemedy() {
        #expect {
            _ = try Tool("no-such-tool", variable: "NO_SUCH_TOOL")
        } throws: {
            "\($0)" == "not installed; if it is, NO_SUCH_TOOL=PATH says where"
        }
        #expect {
            _ = try Tool(at: "/nowhere", remedy: "make it")
        } throws: {
            "\($0)" == "make it"
        }
    }
}
