/// The version of the package, according to Semantic Versioning (<https://semver.org>).
///
/// The version is declared only here; `webimage --version` and the `User-Agent` field use it.
package enum PackageVersion {
    /// The version of the latest release; before the first release, the version that it will have.
    package static let current = "0.1.0"
}
