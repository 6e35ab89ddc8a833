import AsyncWebImage
import WebimageConsole
import Foundation
import Testing

@testable import webimage

struct OutcomeTests {
    @Test func outcomeJSONAlwaysHasTheSameKeys() {
        #expect(
            Outcome(url: "a", milliseconds: 5).json
                == #"{"url":"a","status":"ok","error":null,"error_code":null,"retryable":null,"http_status":null,"format":null,"width":null,"#
                + #""height":null,"original_width":null,"original_height":null,"stored_width":null,"stored_height":null,"#
                + #""orientation":null,"upright_width":null,"upright_height":null,"frames":null,"warnings":null,"gain_map":null,"output_format":null,"bytes":null,"#
                + #""path":null,"source":null,"preview_error":null,"ms":5}"#)
    }

    @Test func outcomeListsWarningsInAFixedOrder() {
        var outcome = Outcome(url: "a")
        outcome.path = "a.png"
        outcome.image.warnings = []
        #expect(outcome.json.contains(#""warnings":[],"#) && outcome.line == "a.png")
        outcome.image.warnings = [.wrongChecksum, .missingEnd]
        #expect(outcome.json.contains(#""warnings":["missing_end","wrong_checksum"],"#))
        #expect(outcome.line == "a.png  warning: a checksum is wrong  warning: the end marker is missing")
        outcome.failure = ImageFailure(.other, "no")
        #expect(outcome.json.contains(#""warnings":null,"#))
    }

    @Test(arguments: [
        "quote\" back\\slash", "line\nbreak\r\t", "\u{1}\u{1F}\u{7F}\u{85}\u{2028}", "\u{2029}",
        "\u{202E}gpj", "\u{E0041}\u{F0000}", "é😀", "👩\u{200D}🚀", "</script>",
    ])
    func outcomeJSONIsValidForAnyText(text: String) throws {
        var outcome = Outcome(url: text)
        outcome.failure = ImageFailure(.other, text)
        let json = outcome.json
        #expect(!json.contains { $0.isNewline })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(object["url"] as? String == text)
        #expect(object["error"] as? String == text)
        #expect(object["status"] as? String == "failed")
        #expect(object["path"] is NSNull)
    }

    @Test(
        arguments: [
            ("\u{0}", "\\u0000"), ("\u{1B}", "\\u001b"), ("\u{9F}", "\\u009f"), ("\u{2028}", "\\u2028"),
            ("\u{2029}", "\\u2029"), ("\u{202E}", "\\u202e"), ("\u{2066}", "\\u2066"), ("\u{200B}", "\\u200b"),
            ("\u{FEFF}", "\\ufeff"), ("\u{E0041}", "\\udb40\\udc41"), ("é", "é"),
        ])
    func outcomeJSONEscapesInvisibleCharacters(text: String, expected: String) {
        #expect(Outcome(url: "a\(text)b").json.hasPrefix("{\"url\":\"a\(expected)b\","))
    }

    @Test func outcomeLinesReplaceControlCharacters() {
        var outcome = Outcome(url: "http://a/\u{1B}[2J")
        outcome.failure = ImageFailure(.other, "no\r\nimage")
        #expect(outcome.line == "webimage: http://a/?[2J: no??image")
    }

    @Test func previewLineReplacesControlCharacters() {
        var outcome = Outcome(url: "http://a/\u{1B}[2J")
        #expect(outcome.previewLine == nil)
        outcome.previewError = "no\nroom"
        #expect(outcome.isSuccess && outcome.previewLine == "webimage: http://a/?[2J: no further previews: no?room")
    }

    @Test(arguments: ["\u{202E}", "\u{2066}", "\u{200B}", "\u{2028}", "\u{2029}", "\u{9B}"])
    func outcomeLinesReplaceInvisibleCharacters(invisible: String) {
        var outcome = Outcome(url: "http://a/\(invisible)gpj.exe")
        outcome.failure = ImageFailure(.other, "é\(invisible)")
        #expect(outcome.line == "webimage: http://a/?gpj.exe: é?")
    }

    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1_000, "1 kB"), (1_234, "1.2 kB"), (56_789, "57 kB"), (999_499, "999 kB"),
        (999_500, "1 MB"), (1_500_000_000, "1.5 GB"), (Int.max, "9223372 TB"),
    ])
    func byteCountsAreRounded(bytes: Int, expected: String) {
        #expect(ByteCount(bytes).description == expected)
    }
}
