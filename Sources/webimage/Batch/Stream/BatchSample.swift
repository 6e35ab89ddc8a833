/// The members of a sample in an archive.
struct BatchSample {
    /// The name that its members have in common.
    let key: String
    /// The extensions and contents, sorted by extension.
    let members: [(suffix: String, bytes: [UInt8])]

    /// Creates the sample of a successful answer: its image, its record, and its caption, if there is one.
    init(_ answer: LineProcessor.Answer, key: String, columns: BatchRecord.Columns) {
        self.key = key
        var columns = columns
        columns.hasRunDetails = false
        var members = [
            (suffix: answer.suffix, bytes: answer.file),
            (suffix: "json", bytes: answer.record.object(columns).bytes),
        ]
        if columns.hasCaption { members.append(("txt", Array((answer.record.entry.caption ?? "").utf8))) }
        self.members = members.sorted { $0.suffix < $1.suffix }
    }

    /// The sample as part of a tar archive.
    var tar: [UInt8] {
        var archive: [UInt8] = []
        for member in members { TarArchive.append(member.bytes, named: "\(key).\(member.suffix)", to: &archive) }
        return archive
    }
}
