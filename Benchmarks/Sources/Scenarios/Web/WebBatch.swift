import Engines

/// The commands that download a list of URLs to files in a folder.
struct WebBatch: Sendable {
    let load: WebLoad
    let folder: String

    /// Returns the command, after writing its list.
    ///
    /// Throws `Unable` for an engine that is not a command.
    func command(for engine: WebEngine) throws -> Command {
        switch engine {
        case .webimage: return try webimage()
        case .curl: return try SystemAuthorities.replaced(by: load.origin.authorities, for: try curl([]))
        case .curlWithOneAuthority: return try curl(["--cacert", load.origin.authority])
        case .aria2: return try aria2()
        case .img2dataset: return try img2dataset()
        case .actor, .asyncHTTPClient, .curlMulti: throw Unable(engine: engine.rawValue, task: "run as a command")
        }
    }

    private func webimage() throws -> Command {
        let list = try write(load.urls, to: "list")
        var arguments = ["get", "--format", "original", "--input", list, "--output", folder + "/images"]
        if let limits = load.limits {
            arguments += ["--concurrency", "\(limits.total)", "--per-host", "\(limits.perHost)"]
        }
        guard load.origin.canReplaceSystemAuthorities else {
            return Command(try .webimage(), arguments + ["--cacert", load.origin.authorities])
        }
        return try SystemAuthorities.replaced(by: load.origin.authorities, for: Command(try .webimage(), arguments))
    }

    private func curl(_ options: [String]) throws -> Command {
        let lines = load.urls.enumerated().map { "url = \"\($1)\"\noutput = \"\(folder)/\($0).jpg\"" }
        let list = try write(lines, to: "list")
        // The first option excludes the user's configuration.
        return Command(
            try Tool("curl"),
            ["-q", "-sS", "--fail", "--noproxy", "*", "--parallel", "--config", list]
                + (load.limits.map { ["--parallel-max", "\($0.total)"] } ?? []) + options)
    }

    private func aria2() throws -> Command {
        let list = try write(load.urls.enumerated().map { "\($1)\n out=\($0).jpg" }, to: "list")
        return Command(
            try Tool("aria2c"),
            ["--no-conf", "--quiet", "--input-file", list, "--dir", folder, "--file-allocation", "none"]
                + ["--ca-certificate", load.origin.authorities]
                + (load.limits.map { ["--max-concurrent-downloads", "\($0.total)"] } ?? []))
    }

    /// Its authorities are those of the system's folder, which OpenSSL reads one by one when it needs them, and that of the
    /// run in place of the system's file.
    private func img2dataset() throws -> Command {
        let list = try write(load.urls, to: "list")
        return Command(
            try Tool("env"),
            [
                "SSL_CERT_FILE=\(load.origin.authority)", "no_proxy=*",
                try Tool("img2dataset", variable: "IMG2DATASET").path, "--url_list", list, "--output_folder",
                folder + "/images", "--output_format", "files", "--resize_mode", "no", "--disable_all_reencoding",
                "True",
            ] + (load.limits.map { ["--thread_count", "\($0.total)"] } ?? []))
    }

    private func write(_ lines: [String], to name: String) throws -> String {
        let path = "\(folder)/\(name)"
        try File.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: path)
        return path
    }
}
