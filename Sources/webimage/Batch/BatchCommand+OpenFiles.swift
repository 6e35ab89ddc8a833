extension BatchCommand {
    /// Returns the files that this command opens, with a number of threads that convert images.
    func openFiles(workers: Int) -> OpenFileBudget.Needs {
        // The list, and one converted file that waits in any case.
        var needs = OpenFileBudget.Needs(
            images: resources.concurrency, filesPerImage: 1 + cache.filesPerImage, files: 2 + cache.files,
            // Images that are converted, and converted files that wait.
            filesOfCompleteBodies: 2 * workers + resources.concurrency)
        if output.failedTo != nil { needs.files += 1 }
        if output.log != nil { needs.files += 1 }
        guard output.output != "-" else { return needs }
        // The description of the run, and the lock of the shard that waits until one of these is complete.
        needs.files += 2
        // So many are open at a time that the look-ahead decides, but not so many that files run out.
        let samples = output.samplesPerShard
        let ahead = resources.lookahead / samples + (resources.lookahead % samples > 0 ? 1 : 0)
        needs.shards = min(max(ahead + 1, 2), ShardOutput.maximumOpenShards)
        needs.filesPerShard = filesPerShard
        return needs
    }

    /// The number of files that are open for a shard.
    private var filesPerShard: Int {
        var parts = output.sidecar == .jsonl ? 1 : 0
        if output.shardFormat == .webdataset { parts += 1 }
        // The added pieces of each part, their positions if these are too many for the memory, and the earlier version.
        var filesPerPart = 1
        if !output.unsorted, output.samplesPerShard > RowTable.longest { filesPerPart += 1 }
        if output.retryFailed { filesPerPart += 1 }
        // The lock, and two files while the shard is completed; and the lines, which may not be stored.
        return parts * filesPerPart + 3 + (output.failedTo == nil ? 0 : 2)
    }
}
