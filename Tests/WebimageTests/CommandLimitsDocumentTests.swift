import ArgumentParser
import AsyncWebImage
import Foundation
import Testing

@testable import webimage

/// Docs/Limits.md states the fixed limits of the command.
struct CommandLimitsDocumentTests {
    @Test func documentedCommandLimitsMatchTheCode() throws {
        let package = #filePath.components(separatedBy: "/Tests/")[0]
        let document = try String(contentsOfFile: "\(package)/Docs/Limits.md", encoding: .utf8)
        let section = try #require(document.components(separatedBy: "## `webimage get`").last)
        let memory = MemoryLimits()
        let configuration = try GetCommand.parse(["photo.jpg"]).loaderConfiguration(concurrency: 1)
        let previews = "\(PreviewWriter.maximumCount) previews, \(mebibytes(PreviewWriter.maximumBytes))"
        let expected = [
            "memory to verify one image": mebibytes(memory.check),
            "memory to verify all images": mebibytes(memory.allChecks),
            "memory to convert all images; an image that needs more is converted alone":
                mebibytes(memory.allConversions),
            "metadata before the pixels": mebibytes(configuration.decoding.limits.maximumHeaderBytes),
            "metadata in memory while it arrives": mebibytes(MemoryLimits.beginning),
            "previews of one image in `--progressive-dir`": previews,
        ]
        for (limit, value) in expected { #expect(section.contains("| \(limit) | \(value) |"), "\(limit)") }
    }

    @Test func sixteenImagesAreProcessedAtATime() throws {
        #expect(try GetCommand.parse(["photo.jpg"]).concurrency == 16)
    }

    private func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
}
