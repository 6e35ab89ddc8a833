import HTTPTypes

@testable import AsyncWebImage
@testable import HTTPSemantics
@testable import HTTPTransport
@testable import Hashing
@testable import ResponseCache

/// Opens the bytes as an entry of a cache, as a head, and as the description of an entry that is damaged afterward.
func openEntry(_ bytes: [UInt8]) {
    _ = try? ResponseStorageHead(bytes)
    if let head = StoredHead(bytes) {
        precondition(StoredHead(head.bytes) == head)
        check(head.freshness, now: head.receivedAt)
    }
    open(bytes, .whole)
    open(bytes, .part)
    openDescribed(bytes)
}

private let cache: ResponseCache = {
    guard let cache = try? ResponseCache(.init(directory: folder + "/cache")) else {
        preconditionFailure("no cache in \(folder)")
    }
    return cache
}()

private let request = TransportRequest(url: plainURL)

/// Opens a file of these bytes as an entry, whose body may be damaged; a file that is not an entry must be removed.
@discardableResult
private func open(_ bytes: [UInt8], _ kind: EntryKind) -> StoredResponse? {
    let resource = CachedResource(request)
    let key = resource.plainKey.with(kind)
    let file = ShardFile.entry(key)
    guard let folder = (cache.storage as? FolderStorage)?.folder else { preconditionFailure("the cache has a folder") }
    // Creates its shard, too.
    try? folder.withShard(file.shard) {}
    write(bytes, to: "\(folder.base)/\(file.path)")
    guard let stored = cache.open(key) else {
        precondition(!folder.has(file))
        return nil
    }
    var body: [UInt8] = []
    var reader = StoredBodyReader(stored.body)
    do {
        while let piece = try reader.next() { body += piece }
        precondition(body.count == stored.body.length)
    } catch {
        precondition(body.count < stored.body.length)
    }
    precondition(body.count <= bytes.count)
    check(stored.head.freshness, now: stored.head.receivedAt)
    _ = stored.head.answers(resource, request.headerFields)
    _ = cache.find(kind, request, resource)
    return stored
}

/// Opens an entry that the bytes describe, with the described damage.
///
/// The first line has pairs of numbers: an offset in the file, and the number that is added to the byte there. Header
/// fields, a blank line, and the body follow.
private func openDescribed(_ bytes: [UInt8]) {
    let lines = bytes.lines
    let numbers = lines[0].split(separator: 0x20).map { Int(text($0.prefix(9))) ?? 0 }
    let fieldLines = lines.dropFirst().prefix { !$0.isEmpty }
    var fields = HTTPFields()
    for line in fieldLines {
        let parts = line.split(separator: 0x3A, maxSplits: 1)
        guard parts.count == 2, let name = HTTPField.Name(text(parts[0])) else { continue }
        fields.append(HTTPField(name: name, value: text(parts[1])))
    }
    let body = Array(lines.dropFirst(1 + fieldLines.count).joined(separator: [0x0A]))
    let head = StoredHead(
        HTTPResponse(status: .ok, headerFields: fields), to: request, requestedAt: 1_800_000_000,
        receivedAt: 1_800_000_001)
    let headBytes = head.bytes
    guard let offset = EntryFile.regionLength(forHead: headBytes.count) else { return }
    let facts = BodyFacts(identity: 1, length: body.count, checksum: CRC32C(of: body.span))
    let layout = EntryFile.Layout(body: facts, offset: offset)
    let sound = EntryFile.region(.whole, head: headBytes, layout) + body
    var file = sound
    for index in stride(from: 0, to: numbers.count - 1, by: 2) where file.indices.contains(numbers[index]) {
        file[numbers[index]] &+= UInt8(truncatingIfNeeded: numbers[index + 1])
    }
    let stored = open(file, .whole)
    if file == sound {
        precondition(stored != nil)
        do {
            try stored?.body.verify()
        } catch {
            preconditionFailure("an intact body is \(error)")
        }
    }
    precondition(stored.map { $0.head == head && $0.body.length == body.count } ?? true)
}
