import HTTPTypes
import Testing

@testable import HTTPTransport

struct CurlSettingsTests {
    @Test(
        arguments: [
            (nil, nil, false), (nil, "http://proxy:3128", false), (nil, "http://me:secret@proxy:3128", true),
            (.basic(user: "me", password: "secret"), nil, false), (.bearer("token"), nil, false),
            (.digest(user: "me", password: "secret"), nil, true),
            (.password(user: "me", password: "secret"), nil, true),
        ] as [(Credential?, String?, Bool)])
    func curlSettingsTellIfCredentialsRemainInAHandle(credential: Credential?, proxy: String?, expected: Bool) {
        let settings = CurlSettings(
            isSecure: false, credential: credential, method: .get, connectMilliseconds: 1_000, headerFields: [:],
            proxy: proxy, tls: TLSOptions.HostSettings())
        #expect(settings.leavesSecrets == expected)
    }
}
