import HTTPTypes
import Testing

@testable import HTTPTransport

/// The texts for users.
struct HTTP2FailureTests {
    @Test func failureNamesItsCodeAndWhoIsAtFault() {
        #expect(
            HTTP2Failure.violation(.protocolError, "DATA: stream in idle").detail
                == "the server violates HTTP/2: PROTOCOL_ERROR (0x1), DATA: stream in idle")
        #expect(
            HTTP2Failure.violation(.flowControlError, "").detail
                == "the server violates HTTP/2: FLOW_CONTROL_ERROR (0x3)")
    }

    @Test(arguments: 0...14 as ClosedRange<UInt32>) func codeOfTheServerIsExplained(value: UInt32) {
        let code = HTTP2ErrorCode(rawValue: value)
        let detail = code.detail("reset the stream")
        #expect(detail.hasPrefix("the server reset the stream with \(code)"))
        let isPlain = [.noError, .connectError].contains(code) || value > 13
        #expect(detail.contains(": ") == !isPlain)
    }

    @Test func announcementOfACloseIsADetailUnlessNothingIsWrong() {
        let calm = HTTP2Close(.enhanceYourCalm, data: "too_many_pings".utf8)
        #expect(
            calm.detail == """
                the server closed the connection with ENHANCE_YOUR_CALM (0xb): it receives too much; \
                fewer requests at a time may help ("too_many_pings")
                """)
        #expect(HTTP2Close(.noError, data: [UInt8]()).detail == nil)
        #expect(
            HTTP2Close(.noError, data: "restart".utf8).detail
                == "the server closed the connection with NO_ERROR (0x0) (\"restart\")")
    }
}
