/// The folders of a module by levels: each depends on those of lower levels only.
struct Layers {
    /// The folders by level, from the lowest to the highest; folders of one level are independent of each other.
    let levels: [[String]]

    init(_ levels: [[String]]) {
        self.levels = levels
    }

    /// The level of a folder; nil if it has none.
    func level(of folder: String) -> Int? {
        levels.firstIndex { $0.contains(folder) }
    }

    /// Returns whether a file of `folder` may name types of `target`.
    func allow(_ folder: String, _ target: String) -> Bool {
        guard let level = level(of: folder), let targetLevel = self.level(of: target) else { return false }
        return targetLevel < level
    }
}
