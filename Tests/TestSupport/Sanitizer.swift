import Foundation

/// The sanitizers that this process was built with.
package enum Sanitizer {
    /// A Boolean value that indicates whether address or thread sanitizer runs.
    package static var isActive: Bool { unsafe isThreadSanitizer || dlsym(nil, "__asan_init") != nil }

    /// A Boolean value that indicates whether thread sanitizer runs.
    ///
    /// At start it maps a file that is larger than `ulimit -f` allows.
    package static var isThreadSanitizer: Bool { unsafe dlsym(nil, "__tsan_init") != nil }
}
