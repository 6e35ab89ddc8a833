import CCurl
import Testing

@testable import HTTPTransport

struct CurlErrorTests {
    @Test(arguments: ["tlsv13 alert certificate required", "tlsv1 alert unknown ca", "sslv3 alert bad certificate"])
    func tlsAlertAfterTheHandshakeIsATLSFailure(words: String) {
        let detail = "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00045C:SSL routines::\(words), errno 0"
        let error = TransportError(CURLE_RECV_ERROR, url: "https://a/", detail: detail, progress: .waitingForHead)
        #expect(error.reason == .tlsFailure)
        #expect(error.description.contains(words))
    }
}
