import Foundation
import Testing
import Threading

struct ControlGroupsTests {
    /// Returns the limits of a system with these files: the memory in bytes, and the number of processors.
    private func limits(_ files: [String: String]) throws -> (memory: Int?, processors: Int?) {
        let root = FileManager.default.temporaryDirectory.appending(path: "groups-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for (path, text) in files {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let groups = ControlGroups(root: root.path)
        return (groups.memoryLimit, groups.processorQuota)
    }

    @Test func systemWithoutControlGroupsHasNoLimits() throws {
        let limits = try limits([:])
        #expect(limits.memory == nil && limits.processors == nil)
    }

    @Test func limitOfAContainerIsThatOfTheTopFolder() throws {
        let limits = try limits([
            "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n",
            "sys/fs/cgroup/cpu.max": "150000 100000\n",
        ])
        #expect(limits.memory == 512 << 20 && limits.processors == 2)
    }

    @Test func lowestLimitOfAllParentsApplies() throws {
        let limits = try limits([
            "proc/self/cgroup": "0::/pods/pod7/main\n", "sys/fs/cgroup/memory.max": "max\n",
            "sys/fs/cgroup/pods/memory.max": "1073741824\n", "sys/fs/cgroup/pods/cpu.max": "max 100000\n",
            "sys/fs/cgroup/pods/pod7/memory.max": "268435456\n",
            "sys/fs/cgroup/pods/pod7/cpu.max": "400000 100000\n",
            "sys/fs/cgroup/pods/pod7/main/memory.max": "max\n",
        ])
        #expect(limits.memory == 256 << 20 && limits.processors == 4)
    }

    @Test func limitsOfVersion1AreInFoldersOfTheirControllers() throws {
        let limits = try limits([
            "proc/self/cgroup": "5:cpu,cpuacct:/jobs/a:b\n4:memory:/jobs/a:b\n1:name=systemd:/\n0::/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/jobs/memory.limit_in_bytes": "805306368\n",
            "sys/fs/cgroup/memory/jobs/a:b/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/cpu/jobs/a:b/cpu.cfs_quota_us": "300000\n",
            "sys/fs/cgroup/cpu/jobs/a:b/cpu.cfs_period_us": "100000\n",
        ])
        #expect(limits.memory == 768 << 20 && limits.processors == 3)
    }

    @Test func version1ReportsLimitsOfParentsThatAContainerCannotSee() throws {
        let limits = try limits([
            "proc/self/cgroup": "4:memory:/docker/0123\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
            "sys/fs/cgroup/memory/memory.stat": "cache 5\nhierarchical_memory_limit 134217728\ntotal_rss 1\n",
        ])
        #expect(limits.memory == 128 << 20)
    }

    @Test(arguments: ["", "max", "-1", "0", "x", "\u{0}"])
    func valuesThatAreNoLimitsAreIgnored(text: String) throws {
        let limits = try limits(["proc/self/cgroup": "no\n::\n0::/\n", "sys/fs/cgroup/memory.max": text])
        #expect(limits.memory == nil && limits.processors == nil)
    }

    @Test func lastLineNeedsNoLineFeed() throws {
        let limits = try limits([
            "proc/self/cgroup": "7:cpuset,memory:/a",
            "sys/fs/cgroup/memory/a/memory.stat": "cache 5\nhierarchical_memory_limit 134217728",
        ])
        #expect(limits.memory == 128 << 20)
    }

    @Test func emptyFilesSetNoLimit() throws {
        let limits = try limits([
            "proc/self/cgroup": "", "sys/fs/cgroup/memory.max": "", "sys/fs/cgroup/cpu.max": "",
            "sys/fs/cgroup/memory/memory.stat": "",
        ])
        #expect(limits.memory == nil && limits.processors == nil)
    }
}
