import Testing

@testable import webimage

struct CommandLogTests {
    @Test func messagesOfTheLibraryLookLikeThoseOfTheCommand() {
        #expect(
            CommandLog.line("responses cannot be stored", ["folder": "cache", "error": "Permission denied"])
                == "webimage: responses cannot be stored (error: Permission denied, folder: cache)\n")
        #expect(CommandLog.line("a\u{1B}b", [:]) == "webimage: a?b\n")
    }
}
