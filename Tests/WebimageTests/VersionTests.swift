import AsyncWebImage
import Foundation
import Testing

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

    @Test func latestReleaseInTheChangelogIsThePackageVersion() throws {
        let package = #filePath.components(separatedBy: "/Tests/")[0]
        let changelog = try String(contentsOfFile: package + "/CHANGELOG.md", encoding: .utf8)
        let headings = changelog.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        #expect(!headings.isEmpty)
        // Headings of releases are "0.1.0 - 2026-11-22"; the version may be in brackets.
        for release in headings.filter({ $0.contains(where: \.isNumber) }).prefix(1) {
            let version = release.prefix { $0 != " " }.filter { $0 != "[" && $0 != "]" }
            #expect(version == PackageVersion.current)
        }
    }
}
