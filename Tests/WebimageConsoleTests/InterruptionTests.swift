import Glibc
import Testing
import WebimageConsole

@Suite(.timeLimit(.minutes(1)))
struct InterruptionTests {
    @Test func laterSignalEndsTheProcessAfterItsLastAction() async {
        let result = await #expect(processExitsWith: .exitCode(130), observing: [\.standardOutputContent]) {
            // Otherwise it can be ignored, as in a job in the background.
            signal(SIGINT, SIG_DFL)
            try await Interruption.cancelling {
                while true {
                    kill(getpid(), SIGINT)
                    await Task.yield()
                }
            } beforeExit: {
                Terminal.output.tell("the cursor is visible again")
            }
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output.contains("the cursor is visible again"))
    }
}
