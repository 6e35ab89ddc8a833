import Glibc

/// The control groups of this process and their parents, as far as they are visible, whose limits all apply to it.
package struct ControlGroups: Sendable {
    /// The folder that contains `proc` and `sys`.
    private let root: String

    /// Creates the groups of this process; tests replace the root folder.
    package init(root: String = "") {
        self.root = root
    }

    /// The lowest limit for memory, in bytes; `nil` if there is none.
    package var memoryLimit: Int? {
        var limits = folders().map { Int(contents(ofSmallFile: "\($0)/memory.max").firstLine) }
        for folder in folders(ofVersion1: "memory") {
            limits.append(Int(contents(ofSmallFile: "\(folder)/memory.limit_in_bytes").firstLine))
            // Includes those of parents that are not visible in a container.
            let line = contents(ofSmallFile: "\(folder)/memory.stat").parts(separatedBy: "\n")
                .first { $0.hasPrefix("hierarchical_memory_limit ") }
            limits.append(line?.parts(separatedBy: " ").last.flatMap { Int($0) })
        }
        return limits.compactMap(\.self).filter { $0 > 0 }.min()
    }

    /// The lowest quota of processors; `nil` if there is none.
    package var processorQuota: Int? {
        var quotas = folders().map { processorCount(ofQuota: contents(ofSmallFile: "\($0)/cpu.max")) }
        // Version 1 has a file for each number.
        quotas += folders(ofVersion1: "cpu").map { folder in
            let numbers = ["cfs_quota_us", "cfs_period_us"].map { contents(ofSmallFile: "\(folder)/cpu.\($0)") }
            return processorCount(ofQuota: numbers.joined(separator: " "))
        }
        return quotas.compactMap(\.self).min()
    }

    /// Returns the folders of the group and its parents, of version 2 or of a controller of version 1.
    ///
    /// In a container, the group can have a path that exists only outside of it, and the folder of all groups is its own.
    private func folders(ofVersion1 controller: String? = nil) -> [String] {
        let top = "\(root)/sys/fs/cgroup" + (controller.map { "/\($0)" } ?? "")
        var folders = [top]
        for line in contents(ofSmallFile: "\(root)/proc/self/cgroup").parts(separatedBy: "\n") {
            // Such as `4:cpu,cpuacct:/path`, and `0::/path` for version 2.
            let fields = line.parts(separatedBy: ":", maximum: 3)
            guard fields.count == 3 else { continue }
            let isMatch = controller.map { fields[1].parts(separatedBy: ",").contains($0[...]) } ?? (fields[0] == "0")
            var path = isMatch ? fields[2] : ""
            while path.utf8.count > 1 {
                folders.append("\(top)\(path)")
                path = path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
            }
        }
        return folders
    }
}

/// Returns the beginning of a small file; empty if it cannot be read.
func contents(ofSmallFile path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}

extension StringProtocol {
    fileprivate var firstLine: Substring { parts(separatedBy: "\n", maximum: 2)[0] }

    /// Returns the parts between separators of one byte.
    ///
    /// Splitting by characters takes longer, which the start of a loader would notice.
    fileprivate func parts(separatedBy separator: Unicode.Scalar, maximum: Int = .max) -> [Substring] {
        Substring(self).utf8
            .split(separator: UInt8(ascii: separator), maxSplits: maximum - 1, omittingEmptySubsequences: false)
            .map { Substring($0) }
    }
}
