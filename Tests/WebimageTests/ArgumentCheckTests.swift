import ArgumentParser
import Testing

@testable import webimage

struct ArgumentCheckTests {
    private func message(_ arguments: String...) -> String? {
        do throws(ValidationError) {
            try ArgumentCheck.check(arguments, subcommands: ["help", "get", "info", "batch", "cache"]) { name in
                name == "get" ? GetCommand.helpMessage() : InfoCommand.helpMessage()
            }
            return nil
        } catch {
            return error.message
        }
    }

    @Test func aSourceWithoutACommandIsToldHowToWriteIt() {
        let url = "https://example.com/a.jpg"
        #expect(message(url) == "\(url) is not a command. To get an image, write: webimage get \(url)")
        #expect(message("photo.jpg")?.hasSuffix("webimage get photo.jpg") == true)
    }

    @Test(arguments: [("gets", "get"), ("gt", "get"), ("bach", "batch"), ("nfo", "info"), ("xget", "get")])
    func aMistypedCommandIsCorrected(typed: String, meant: String) {
        #expect(message(typed, "x") == "\(typed) is not a command. Did you mean: webimage \(meant)")
    }

    @Test func commandsAndOptionsOfTheRootAreAccepted() {
        for arguments in [["get", "a"], ["help", "batch"], ["--version"], ["-h"], []] {
            #expect(throws: Never.self) {
                try ArgumentCheck.check(arguments, subcommands: ["help", "get"]) { _ in "" }
            }
        }
    }

    @Test func anOptionCannotBeGivenTwice() {
        #expect(message("get", "--input", "a", "--input=b") == "--input is given twice.")
        #expect(message("get", "-o", "a", "--output", "b", "x") == "--output is given twice.")
        #expect(
            message("get", "--header", "A: b", "--header", "C: d", "--insecure-host", "a", "--insecure-host", "b")
                == nil)
        #expect(message("get", "--json", "--", "--json", "--json") == nil)
    }

    @Test func verifyingIsNotCombinedWithOptionsThatItIgnores() {
        #expect(
            message("batch", "-o", "a", "--verify=b", "--header", "A: b", "--header", "C: d", "--overwrite")
                == "--verify reads a folder only; remove the other options: --output, --header, --overwrite.")
        #expect(message("batch", "--verify", "-") == nil)
        #expect(message("batch", "--verify", "a", "--input", "b", "-h") == nil)
        #expect(message("batch", "--input", "a", "--", "--verify") == nil)
    }

    @Test func everyRepeatableOptionIsKnown() {
        let helps = [GetCommand.helpMessage(), InfoCommand.helpMessage(), BatchCommand.helpMessage()]
        var repeatable: Set<String> = []
        for help in helps {
            var name = ""
            var text = ""
            for line in help.split(separator: "\n") + [Substring("  --end")] {
                if line.drop(while: { $0 == " " }).hasPrefix("-") {
                    if text.contains("Can be repeated") { repeatable.insert(name) }
                    name = line.split(separator: " ").first { $0.hasPrefix("--") }.map { String($0) } ?? ""
                    text = ""
                }
                text += line.drop { $0 == " " } + " "
            }
        }
        #expect(repeatable == ArgumentCheck.repeatable)
    }

    @Test func optionsOfOtherProgramsLeadToTheRightOnes() {
        #expect(message("get", "--width", "9", "x")?.contains("--max-pixel-size") == true)
        #expect(message("get", "-H", "A: b", "x") == "There is no option -H: use --header.")
        #expect(message("info", "--width", "9", "x") == nil)
        #expect(message("get", "-oa.png", "x") == "Write a space behind -o: -o a.png.")
    }

    @Test func noCommandHasAnOptionThatIsCalledForeign() {
        let helps =
            [GetCommand.helpMessage(), InfoCommand.helpMessage(), BatchCommand.helpMessage()]
            + [CacheCommand.helpMessage(), Webimage.helpMessage()]
        for help in helps {
            let lines = help.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("-") }
            let own = lines.flatMap { $0.split { " ,".contains($0) } }.filter { $0.hasPrefix("-") }.map { String($0) }
            let discussed = Set(own).intersection(ArgumentCheck.foreign.keys)
            #expect(discussed.isEmpty)
        }
    }

    @Test func anEmptyValueBehindAnEqualsSignIsAValue() throws {
        #expect(ArgumentCheck.normalized(["get", "--proxy=", "a=b="]) == ["get", "--proxy", "", "a=b="])
        for arguments in [["--header=A="], ["--json="], ["--", "--proxy="]] {
            #expect(ArgumentCheck.normalized(arguments) == arguments)
        }
    }
}
