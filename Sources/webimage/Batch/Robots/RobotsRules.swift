/// The rules of a robots.txt for one crawler.
struct RobotsRules: Sendable, Equatable {
    /// A rule for the paths that match its pattern.
    struct Rule: Sendable, Equatable {
        let isAllowing: Bool
        let pattern: RobotsPattern
    }

    /// No rules: everything is allowed.
    static let none = RobotsRules([])

    /// The maximum number of comparisons for one path.
    ///
    /// A file that needs more was written to keep crawlers busy, and disallows the path.
    static let comparisonLimit = 4 << 20

    /// The rules from the most specific one to the least; among equally specific ones, those that allow come first.
    private let rules: [Rule]
    /// The approximate number of bytes in memory.
    let byteCount: Int

    init(_ rules: [Rule]) {
        self.rules = rules.sorted { left, right in
            left.pattern.count == right.pattern.count
                ? left.isAllowing && !right.isAllowing : left.pattern.count > right.pattern.count
        }
        byteCount = rules.reduce(128) { $0 + $1.pattern.count + 80 }
    }

    /// Returns whether the path with its query, as in a request, is allowed.
    func allow(_ path: some StringProtocol) -> Bool {
        guard !rules.isEmpty else { return true }
        let path = RobotsPattern.normalized(path.utf8)
        var budget = Self.comparisonLimit
        for rule in rules {
            guard let matches = rule.pattern.matches(path, budget: &budget) else { return false }
            if matches { return rule.isAllowing }
        }
        return true
    }
}
