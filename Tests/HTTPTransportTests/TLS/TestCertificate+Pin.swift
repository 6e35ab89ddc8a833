import COpenSSL
import Foundation
import Hashing

@testable import HTTPTransport

extension TestCertificate {
    /// The pin of the public key.
    var pin: PublicKeyPin? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes)
        defer { CRYPTO_free(bytes, #file, #line) }
        let encoded = Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
        return PublicKeyPin(Data(SHA256.hash(encoded)).base64EncodedString())
    }
}
