import Engines

extension EngineName {
    /// The engine of that name; a tool that is none is an error here.
    init(named name: String) throws {
        guard let engine = EngineName(rawValue: name) else { throw Unable(engine: name, task: "download") }
        self = engine
    }
}

/// An engine was asked for what is not in its protocol.
struct Unable: Error, CustomStringConvertible {
    let engine: String
    let task: String

    var description: String { "\(engine) does not \(task)" }
}
