import CCurl

import Glibc

extension CertificateAuthorities {
    /// The places that libcurl was built with; its file is left out if it cannot be read, as on a system of another
    /// distribution.
    static let system: CertificateAuthorities = {
        guard let version = unsafe curl_version_info(CURLVERSION_SEVENTH),
            // An older version that is loaded in place of the one for the build has shorter information.
            CurlVersion.loaded >= CurlVersion(7, 70, 0)
        else { return CertificateAuthorities() }
        let file = unsafe version.pointee.cainfo.map { unsafe String(cString: $0) }
        let folder = unsafe version.pointee.capath.map { unsafe String(cString: $0) }
        return CertificateAuthorities(file: file.flatMap { unsafe access($0, R_OK) == 0 ? $0 : nil }, folder: folder)
    }()
}
