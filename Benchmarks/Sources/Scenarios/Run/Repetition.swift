/// The results of the cases in one round, without those that failed.
struct Repetition<Case: ScenarioCase>: Sendable {
    private var measured: [Case: Measurements] = [:]

    subscript(subject: Case) -> Measurements? {
        get { measured[subject] }
        set { measured[subject] = newValue }
    }

    /// Returns the results of the case that satisfies `condition`, of which there is at most one.
    func first(where condition: (Case) -> Bool) -> Measurements? {
        measured.first { condition($0.key) }?.value
    }
}
