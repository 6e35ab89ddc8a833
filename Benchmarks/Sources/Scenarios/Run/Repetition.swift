/// What the cases gave in one round; those that failed are missing.
struct Repetition<Case: ScenarioCase>: Sendable {
    private var measured: [Case: Measurements] = [:]

    subscript(subject: Case) -> Measurements? {
        get { measured[subject] }
        set { measured[subject] = newValue }
    }

    /// What a case gave that satisfies `condition`, of which there should be one.
    func first(where condition: (Case) -> Bool) -> Measurements? {
        measured.first { condition($0.key) }?.value
    }
}
