/// Gain maps made by hand.
package enum TestGainMap {
    /// Returns the JPEG `file` with the metadata of a gain map.
    package static func described(_ file: [UInt8]) -> [UInt8] {
        let content = Array(
            ("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:Description "
                + "xmlns:hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\" hdrgm:GainMapMax=\"2\"/></x:xmpmeta>").utf8)
        return Array(file[..<2]) + [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content + Array(file[2...])
    }
}
