/// The numbers of lines of a list that have been read, for a summary that accounts for each of them.
struct ListCounts: Sendable, Equatable {
    /// The number of all lines, as `wc -l` counts them if the last one ends with a line break.
    var lines = 0
    /// 1 if a line has named the columns.
    var header = 0
    var blank = 0
    var comments = 0
    /// The number of lines that continue a quoted field of CSV, and so belong to the record of an earlier line.
    var continued = 0

    /// The numbers as a JSON object.
    var object: JSONObject {
        var object = JSONObject()
        object.add("lines", lines)
        object.add("header", header)
        object.add("blank", blank)
        object.add("comments", comments)
        object.add("continued", continued)
        return object
    }
}
