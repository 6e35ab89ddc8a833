import AsyncWebImage
import WebimageConsole

/// The beginning of a list, by which something else is recognized before anything is requested or written.
struct ListHead {
    /// The command that reads the list.
    enum Reader: Sendable {
        case get
        case batch
    }

    /// The name of the list in messages.
    let name: String
    /// The list as an argument of an option.
    let path: String
    /// The first bytes.
    let bytes: ArraySlice<UInt8>
    /// A Boolean value that indicates whether the list has no more bytes.
    let isWhole: Bool

    /// Returns the reason why the bytes are not a text, with the remedy; `nil` if they may be one.
    var fault: String? {
        for (signature, kind, remedy) in Self.signatures where bytes.starts(with: signature) {
            return
                "\(name) is \(kind), not a list in text form: \(remedy.replacing("LIST", with: path == "-" ? "FILE" : path))"
        }
        let start = Array(bytes.prefix(64))
        if let format = ImageFormat(signature: start.span) {
            return notAList("an image (\(format.identifier))")
        }
        let evenNULs = bytes.prefix(64).enumerated().allSatisfy { $0.offset % 2 == 1 || $0.element == 0 }
        let oddNULs = bytes.prefix(64).enumerated().allSatisfy { $0.offset % 2 == 0 || $0.element == 0 }
        if ByteOrderMark.utf16.contains(where: { bytes.starts(with: $0) }) || bytes.count > 3 && evenNULs != oddNULs {
            return "\(name) is a text in UTF-16: convert it with iconv -f UTF-16 -t UTF-8"
        }
        do {
            _ = try ImageHeader.probe(start.span)
        } catch .unsupportedFormat(let format) {
            return notAList("an image (\(format))")
        } catch .notAnImage(let kind) where Self.others.contains(kind) {
            return notAList(kind)
        } catch {
            // It may be a text.
        }
        if bytes.contains(UInt8(ascii: "\r")), !bytes.contains(UInt8(ascii: "\n")) {
            return "the lines of \(name) end with CR alone: convert it with tr '\\r' '\\n'"
        }
        if let index = bytes.firstIndex(of: 0) {
            return "\(name) is not a text: its byte \(index - bytes.startIndex) is NUL; a list is a text in UTF-8"
        }
        return nil
    }

    private func notAList(_ kind: String) -> String {
        "\(name) is \(kind), not a list; to get one image, use webimage get with its URL or path as an argument"
    }

    /// The kinds of text, and of files that begin like one, that are no list.
    private static let others: Set<String> = [
        "HTML", "XML or SVG", "HTML or XML", "a PDF", "PostScript", "RAR", "MPEG-4",
    ]

    /// The signatures of files that are often taken for lists, with their kind and the remedy.
    private static let signatures: [(bytes: [UInt8], kind: String, remedy: String)] = [
        (
            Array("PAR1".utf8), "a Parquet file",
            "the Python package webimage-batch reads it, as in webimage-batch download --input_format parquet "
                + "--url_list LIST"
        ),
        (Array("ARROW1".utf8), "an Arrow file", "write it as CSV or as lines of JSON"),
        (Array("ORC".utf8) + [0x0A], "an ORC file", "write it as CSV or as lines of JSON"),
        (Array("Obj".utf8) + [1], "an Avro file", "write it as CSV or as lines of JSON"),
        (Array("SQLite format 3".utf8) + [0], "an SQLite database", "write a table of it as CSV"),
        (Array("PK".utf8) + [3, 4], "a ZIP archive or a spreadsheet", "extract it, or save the spreadsheet as CSV"),
        ([0xD0, 0xCF, 0x11, 0xE0], "a document of Office", "save it as CSV"),
        (Gunzip.signature, "compressed with gzip twice", "decompress it with gzip -d first"),
        ([0x28, 0xB5, 0x2F, 0xFD], "compressed with Zstandard", "zstd -dc LIST | webimage ... --input -"),
        (Array("BZh91AY&SY".utf8), "compressed with bzip2", "bzip2 -dc LIST | webimage ... --input -"),
        ([0xFD] + Array("7zXZ".utf8), "compressed with xz", "xz -dc LIST | webimage ... --input -"),
    ]

    /// Returns the reason why a list with one URL per line is in another format; `nil` if it may have this one.
    func faultOfLines(columns: ListColumns, reader: Reader) -> String? {
        let lines = lines.filter { $0.first != UInt8(ascii: "#") }.prefix(2)
            .map { String(decoding: $0, as: UTF8.self) }
        guard let first = lines.first else { return nil }
        if first.hasPrefix("[") { return Self.isArray(name, path) }
        if first.hasPrefix("{") { return other("JSON", .ndjson, reader) }
        guard let separator = Self.separator(ofHeader: first, then: lines.dropFirst().first, url: columns.url) else {
            return nil
        }
        switch separator {
        case ",": return other("the header of a CSV list (\(first.prefix(100)))", .csv, reader)
        case "\t": return other("the header of a TSV list (\(first.prefix(100)))", .tsv, reader)
        default:
            return
                "\(name) begins with a header (\(first.prefix(100))) whose separator is \(separator): convert the list "
                + "to CSV, with commas, and use webimage batch --input-format csv"
        }
    }

    private func other(_ kind: String, _ format: ListFormat, _ reader: Reader) -> String {
        let start = "\(name) begins with \(kind), not with a URL: "
        return switch reader {
        case .get: start + Self.batch(path, format)
        case .batch: start + "use --input-format \(format.rawValue)"
        }
    }

    /// Returns the advice for a list that `webimage get` does not read.
    static func batch(_ path: String, _ format: ListFormat) -> String {
        "webimage get reads one URL per line; use webimage batch --input \(path) --input-format \(format.rawValue) "
            + "--output FOLDER"
    }

    /// Returns the separator of the header of a table in a list of URLs; `nil` if `first` is no header.
    ///
    /// A header names the column of the URLs, or is followed by a line with as many values, of which one is a URL.
    private static func separator(ofHeader first: String, then second: String?, url: String) -> Character? {
        guard !first.contains("://"), !first.contains("/"), !first.contains(".") else { return nil }
        func values(_ line: String, _ separator: Character) -> [String] {
            line.split(separator: separator, omittingEmptySubsequences: false)
                .map { $0.filter { $0 != "\"" }.withoutBlanksAround.lowercased() }
        }
        for separator: Character in [",", "\t", ";", "|"] where first.contains(separator) {
            let names = values(first, separator)
            if !names.allSatisfy({ !known.contains($0) && $0 != url.lowercased() }) { return separator }
            if let second, second.contains("://"), values(second, separator).count == names.count { return separator }
        }
        let name = values(first, ",")
        return name == ["url"] || name == [url.lowercased()] ? "," : nil
    }

    private static let known: Set<String> = [
        "url", "urls", "uri", "link", "image", "image_url", "img_url", "image_link",
    ]

    /// Returns the reason why no line of a list of JSON objects has a URL; `nil` if one of the first lines has.
    func faultOfObjects(columns: ListColumns) -> String? {
        let lines = lines
        guard let first = lines.first else { return nil }
        if first.elementsEqual("[".utf8) { return Self.isArray(name, path) }
        var names: [String]?
        for line in lines {
            guard let members = JSONScanner.members(of: Array(line)) else { continue }
            if members.contains(where: { $0.name == columns.url }) { return nil }
            names = names ?? members.map(\.name)
        }
        guard let names else {
            if first.first == UInt8(ascii: "[") { return Self.isArray(name, path) }
            return "\(name) does not begin with JSON objects, one per line: see --input-format"
        }
        let list = names.prefix(20).joined(separator: ", ")
        return "the objects of \(name) have no member \(columns.url); they have \(list.isEmpty ? "none" : list): "
            + "see --url-col"
    }

    private static func isArray(_ name: String, _ path: String) -> String {
        "\(name) is a JSON array: write one object per line, as in jq -c '.[]' \(path) | webimage batch --input - "
            + "--output FOLDER"
    }

    /// The lines that are complete and not blank, without the blanks around them.
    private var lines: [ArraySlice<UInt8>] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if !isWhole { lines.removeLast() }
        return lines.compactMap { line in
            guard let first = line.firstIndex(where: { !$0.isBlank }), let last = line.lastIndex(where: { !$0.isBlank })
            else { return nil }
            return line[first...last]
        }
    }
}
