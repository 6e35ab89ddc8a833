/// The version of the package, by semantic versioning (<https://semver.org>).
///
/// This is the only place that states it: `webimage --version` and the `User-Agent` field are made from it.
package enum PackageVersion {
    /// The version of the latest release, or of the first one while there is none.
    package static let current = "0.1.0"
}
