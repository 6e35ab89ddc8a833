import Engines

extension EngineName {
    /// Creates the engine with this name.
    ///
    /// Throws `Unable` if the name is that of another tool.
    init(named name: String) throws {
        guard let engine = EngineName(rawValue: name) else { throw Unable(engine: name, task: "download") }
        self = engine
    }
}

/// The error when an engine does not support a scenario.
struct Unable: Error, CustomStringConvertible {
    let engine: String
    let task: String

    var description: String { "\(engine) does not \(task)" }
}
