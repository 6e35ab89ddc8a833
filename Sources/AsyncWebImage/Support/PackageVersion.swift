/// The version of the package, by semantic versioning (<https://semver.org>).
///
/// This is its only source: `webimage --version` and the `User-Agent` field show it, and the tests compare it with the
/// change log and with the README.
package enum PackageVersion {
    /// The version that is released, or that is released next.
    package static let current = "0.1.0"
}
