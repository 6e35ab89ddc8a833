import CCurl

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Dates as header fields have them (RFC 9110, section 5.6.7), in seconds since 1970.
public enum HTTPDate: Sendable {
    /// The date in a header field, in any of the three forms a recipient has to read; nil if it is none.
    public static func seconds(_ text: String) -> Int? {
        // libcurl's parser takes a good deal more than dates in header fields; all of those have a comma or a colon.
        guard text.utf8.count < 64, text.contains(":"), !text.utf8.contains(0) else { return nil }
        let seconds = unsafe curl_getdate(text, nil)
        return seconds < 0 ? nil : seconds
    }

    /// The time on this machine's clock.
    public static var now: Int { time(nil) }
}
