import Glibc

/// Dates of header fields (RFC 9110, section 5.6.7), in seconds since 1970.
package enum HTTPDate: Sendable {
    /// Parses a date in any of the three formats that recipients must accept; returns `nil` for other text.
    ///
    /// No other format is accepted, because an invalid `Expires` must be treated as in the past (RFC 9111, section
    /// 5.3). The case of names is ignored, as caches should (RFC 9111, section 4.2).
    package static func seconds(_ text: String) -> Int? {
        guard text.utf8.count < 64 else { return nil }
        if let seconds = secondsOfUsualDate(text) { return seconds }
        var words = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
        // Only in front of a day of one digit, there are two spaces.
        if words.count == 6, words[2].isEmpty, words[3].utf8.count == 1 { words.remove(at: 2) }
        guard let day = words.first else { return nil }
        if words.count == 6, day.hasSuffix(","), shortDays.contains(day.dropLast()), words[5] == "gmt" {
            // Sun, 06 Nov 1994 08:49:37 GMT
            guard words[1].utf8.count == 2, words[3].utf8.count == 4 else { return nil }
            return seconds(day: words[1], month: words[2], year: number(words[3]), time: words[4])
        }
        if words.count == 4, day.hasSuffix(","), longDays.contains(day.dropLast()), words[3] == "gmt" {
            // Sunday, 06-Nov-94 08:49:37 GMT
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, date[0].utf8.count == 2, date[2].utf8.count == 2 else { return nil }
            // Two-digit years from 70 are in the last century.
            let year = number(date[2]).map { $0 + ($0 < 70 ? 2_000 : 1_900) }
            return seconds(day: date[0], month: date[1], year: year, time: words[2])
        }
        // Sun Nov  6 08:49:37 1994
        guard words.count == 5, shortDays.contains(day), words[4].utf8.count == 4 else { return nil }
        return seconds(day: words[2], month: words[1], year: number(words[4]), time: words[3])
    }

    /// Parses a date in the preferred format (IMF-fixdate), `Sun, 06 Nov 1994 08:49:37 GMT`, without splitting the
    /// text.
    ///
    /// Returns `nil` for other text, including other spellings of the same format.
    private static func secondsOfUsualDate(_ text: String) -> Int? {
        let bytes = text.utf8.span
        guard bytes.count == 29 else { return nil }
        func letters(_ start: Int) -> UInt32 {
            UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2])
        }
        func number(_ range: Range<Int>) -> Int? {
            var number = 0
            for index in range {
                guard (0x30...0x39).contains(bytes[index]) else { return nil }
                number = 10 * number + Int(bytes[index] - 0x30)
            }
            return number
        }
        let isPunctuated =
            bytes[3] == 0x2C && [4, 7, 11, 16, 25].allSatisfy { bytes[$0] == 0x20 } && bytes[19] == 0x3A
            && bytes[22] == 0x3A
        guard isPunctuated, dayLetters.contains(letters(0)), letters(26) == 0x47_4D54,
            let month = monthLetters.firstIndex(of: letters(8)), let day = number(5..<7), let year = number(12..<16),
            let hour = number(17..<19), let minute = number(20..<22), let second = number(23..<25)
        else { return nil }
        return seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    private static let dayLetters = letters(of: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
    private static let monthLetters = letters(of: [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ])

    private static func letters(of names: [String]) -> [UInt32] {
        names.map { $0.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private static let shortDays: [Substring] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays: [Substring] = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]

    /// The current time of the system clock, in seconds since 1970.
    package static var now: Int { time(nil) }

    private static func seconds(day: Substring, month: Substring, year: Int?, time: Substring) -> Int? {
        let months: [Substring] = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ]
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let year, let month = months.firstIndex(of: month), let day = number(day), parts.count == 3,
            parts.allSatisfy({ $0.utf8.count == 2 }), let hour = number(parts[0]), let minute = number(parts[1]),
            let second = number(parts[2])
        else { return nil }
        return seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// Returns the time of a date, whose months count from 0; `nil` if there is no such date.
    private static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int? {
        guard year >= 1970, hour < 24, minute < 60, second <= 60 else { return nil }
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[month]).contains(day) else { return nil }
        let last = year - 1
        let days =
            365 * (year - 1970) + (last / 4 - last / 100 + last / 400) - 477 + lengths[..<month].reduce(0, +) + day - 1
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }

    /// Parses digits only: `Int` would also accept a sign.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}
