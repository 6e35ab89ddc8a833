/// The system's certificate authorities, and commands for which another file takes their place.
enum SystemAuthorities {
    /// The path of the file, or `nil` if it is not in a usual place.
    static var path: String? {
        ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"].first { File.exists($0) }
    }

    /// Returns the command in a mount namespace of its own, in which `file` is mounted over the system's file.
    ///
    /// So the command has its defaults, including the folder of authorities next to the file. Throws `NotInstalled` if
    /// there is no `unshare` or no file to replace.
    static func replaced(by file: String, for command: Command) throws -> Command {
        guard let path else { throw NotInstalled(description: "the system has no file of certificate authorities") }
        let script = #"mount --bind "$1" "$2" && shift 2 && exec "$@""#
        // Root needs no user namespace, which some systems forbid.
        let user = File.isOwnedByThisProcess(path) ? [] : ["--map-root-user"]
        return Command(
            try Tool("unshare"),
            user + ["--mount", "sh", "-c", script, "sh", file, path, command.tool.path] + command.arguments)
    }

    /// Returns a Boolean value that indicates whether this process may replace the file for its commands.
    static func canBeReplaced(by file: String) -> Bool {
        guard let command = try? replaced(by: file, for: Command(try Tool("true"), [])) else { return false }
        return (try? command.run()) != nil
    }
}
