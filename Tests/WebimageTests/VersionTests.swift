import ArgumentParser
import AsyncWebImage
import Foundation
import HTTPTypes
import Testing

@testable import webimage

/// Everything that shows a version shows the one of `PackageVersion`.
@Suite(.timeLimit(.minutes(2)))
struct VersionTests {
    @Test func commandPrintsThePackageVersion() async throws {
        let result = try await Command.run(["--version"])
        #expect(result.output == PackageVersion.current + "\n")
        #expect(result.status == 0)
    }

    @Test func userAgentFieldContainsThePackageVersion() {
        let userAgent = DownloadConfiguration.defaultHeaderFields[.userAgent]
        #expect(userAgent == "async-web-image/" + PackageVersion.current)
    }

    @Test func everyCommandSendsItsVersion() throws {
        let own = "webimage/" + PackageVersion.current
        #expect(try GetCommand.parse(["a"]).requests.downloads.headerFields[.userAgent] == own)
        #expect(try InfoCommand.parse(["a"]).requests.downloads.headerFields[.userAgent] == own)
        let batch = ["--input", "-", "--output", "-"]
        #expect(try userAgent(BatchCommand.parse(batch)) == own)
        #expect(try userAgent(BatchCommand.parse(batch + ["--user-agent-token", "crawler"])) == "crawler " + own)
        let header = ["--header", "User-Agent: mine"]
        #expect(try userAgent(BatchCommand.parse(batch + ["--user-agent-token", "crawler"] + header)) == "mine")
    }

    private func userAgent(_ command: BatchCommand) throws -> String? {
        let budget = try #require(OpenFileBudget(free: 1_000, OpenFileBudget.Needs(images: 16)))
        return try command.configuration(budget).downloads.headerFields[.userAgent]
    }

    @Test func pythonPackageHasThePackageVersion() throws {
        let source = try document("Integrations/python/src/webimage_batch/__init__.py")
        #expect(source.contains("\n__version__ = \"\(PackageVersion.current)\"\n"))
        let instructions = try document("Integrations/python/README.md")
        #expect(instructions.contains("dist/webimage_batch-\(PackageVersion.current)-py3"))
    }

    @Test func firstReleaseThatTheChangelogAnnouncesIsThePackageVersion() throws {
        let changelog = try document("CHANGELOG.md")
        guard changelog.contains("No version has been released yet.") else { return }
        #expect(changelog.contains("The first one, \(PackageVersion.current), will"))
    }

    @Test func latestReleaseInTheChangelogIsThePackageVersion() throws {
        let headings = try document("CHANGELOG.md")
            .split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        #expect(!headings.isEmpty)
        // Headings of releases are "0.1.0 - 2026-11-22"; the version may be in brackets.
        for release in headings.filter({ $0.contains(where: \.isNumber) }).prefix(1) {
            let version = release.prefix { $0 != " " }.filter { $0 != "[" && $0 != "]" }
            #expect(version == PackageVersion.current)
        }
    }

    @Test func readmeDependsOnThePackageVersion() throws {
        let parts = try document("README.md").components(separatedBy: "from: \"").dropFirst()
        #expect(!parts.isEmpty)
        for part in parts { #expect(part.hasPrefix(PackageVersion.current + "\"")) }
    }

    private func document(_ name: String) throws -> String {
        let package = #filePath.components(separatedBy: "/Tests/")[0]
        return try String(contentsOfFile: package + "/" + name, encoding: .utf8)
    }
}
