import FoundationEssentials

/// Folders that are removed after use.
enum TemporaryFolder {
    /// Runs `body` with an empty folder that is removed afterward.
    static func with<Result>(_ purpose: String, _ body: (String) async throws -> Result) async throws -> Result {
        let path = FileManager.default.temporaryDirectory.path + "/async-web-image-\(purpose)-\(UUID().uuidString)"
        try File.createFolder(path)
        defer { File.remove(path) }
        return try await body(path)
    }
}
