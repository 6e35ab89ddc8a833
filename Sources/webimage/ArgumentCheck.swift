import ArgumentParser

/// Mistakes in arguments that the parser accepts, or answers with a misleading suggestion.
enum ArgumentCheck {
    /// The options that can be repeated.
    static let repeatable: Set<String> = ["--header", "--insecure-host", "--spread-host"]

    /// Options that other programs have, with what serves their purpose here.
    static let foreign: [String: String] = {
        let size = "use --max-pixel-size 256, --fit 300x200, or --fill 300x200"
        let output = "use --output"
        var hints = [
            "-f": "use --format", "-q": "use --quality", "--force": "use --overwrite", "-y": "use --overwrite",
            "-H": "use --header", "-k": "use --insecure-host HOST", "--insecure": "use --insecure-host HOST",
            "--no-check-certificate": "use --insecure-host HOST", "-L": "redirects are always followed",
            "--location": "redirects are always followed", "-x": "use --proxy", "-b": "use --cookies",
            "--cookie": "use --cookies", "-J": "use --remote-header-name", "-A": "use --header 'User-Agent: NAME'",
            "--user-agent": "use --header 'User-Agent: NAME'", "--max-time": "use --deadline", "-m": "use --deadline",
            "--url": "pass URLs without an option", "--list": "use --input", "-i": "use --input",
            "--input-file": "use --input", "--parallel": "use --concurrency", "-j": "use --concurrency",
            "--jobs": "use --concurrency", "--limit-rate": "use --rate, in requests per second",
            "--quiet": "send standard error to /dev/null", "-s": "send standard error to /dev/null",
        ]
        for name in ["--width", "--height", "--size", "--resize", "--max-size", "--thumbnail", "--max-width"] {
            hints[name] = size
        }
        for name in ["--out", "-O", "--out-dir", "--output-dir", "--output-document", "--output-folder", "-P"] {
            hints[name] = output
        }
        return hints
    }()

    /// The options with which a command uses none of its other options, with what it does then.
    static let solitary = ["batch": (option: "--verify", action: "reads a folder only")]

    /// Throws an error for the first mistake in the arguments of the process, for a command with these subcommands.
    ///
    /// `help` returns the help of a subcommand: only options that it has are suggested.
    static func check(
        _ arguments: [String], subcommands: [String], help: (String) -> String
    ) throws(ValidationError) {
        guard let first = arguments.first else { return }
        if !first.hasPrefix("-"), !subcommands.contains(first) {
            if let near = subcommands.first(where: { first.isAlmost($0) }) {
                throw ValidationError("\(first) is not a command. Did you mean: webimage \(near)")
            }
            throw ValidationError("\(first) is not a command. To get an image, write: webimage get \(first)")
        }
        var names: [String] = []
        for argument in arguments.dropFirst().prefix(while: { $0 != "--" }) where argument.hasPrefix("-") {
            var name = String(argument.prefix { $0 != "=" })
            if let hint = foreign[name], suggests(hint, optionsIn: help(first)) {
                throw ValidationError("There is no option \(name): \(hint).")
            }
            if name.hasPrefix("-o"), name != "-o" {
                throw ValidationError("Write a space behind -o: -o \(name.dropFirst(2)).")
            }
            name = ["-o": "--output", "-h": "--help"][name] ?? name
            guard names.contains(name) else {
                names.append(name)
                continue
            }
            guard !name.hasPrefix("--") || repeatable.contains(name) else {
                throw ValidationError("\(name) is given twice.")
            }
        }
        guard let (option, action) = solitary[first], names.contains(option), !names.contains("--help") else { return }
        let others = names.filter { $0 != option && $0.hasPrefix("--") }
        guard others.isEmpty else {
            throw ValidationError("\(option) \(action); remove the other options: \(others.joined(separator: ", ")).")
        }
    }

    /// Returns whether all options that `hint` names are in `help`.
    private static func suggests(_ hint: String, optionsIn help: String) -> Bool {
        hint.split { " ,".contains($0) }.filter { $0.hasPrefix("--") }.allSatisfy { help.contains($0) }
    }

    /// The options whose value can be empty.
    private static let optional: Set<String> = ["--proxy", "--cookies", "--disallowed-header-directives"]

    /// Returns the arguments with `--proxy=` as two arguments, because the parser takes it for an option without a value.
    static func normalized(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].flatMap { argument in
            argument.last == "=" && optional.contains(String(argument.dropLast()))
                ? [String(argument.dropLast()), ""] : [argument]
        } + arguments[end...]
    }
}

extension String {
    /// Returns whether the text differs from `other` in one character: added, missing, or another.
    fileprivate func isAlmost(_ other: String) -> Bool {
        let (short, long) = count < other.count ? (self, other) : (other, self)
        let start = zip(short, long).prefix { $0 == $1 }.count
        let end = zip(short.dropFirst(start).reversed(), long.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        return long.count - start - end <= 1
    }
}
