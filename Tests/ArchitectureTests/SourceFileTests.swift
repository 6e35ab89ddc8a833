import Testing

/// The parser on which the tests of the layers depend.
struct SourceFileTests {
    private func file(_ source: String) -> SourceFile {
        SourceFile(source, path: "Sources/M/A/File.swift", folder: "A")
    }

    @Test func declarationsAreFoundByQualifiedNames() {
        let file = file(
            """
            public struct Outer: Sendable {
                enum Kind { case first, second }
                class func make() -> Outer { Outer() }
            }
            extension Outer.Kind { typealias Raw = Int }
            private struct Hidden { struct Inner {} }
            final class Other { private(set) var count = 0; struct Part {} }
            """)
        #expect(file.types == ["Outer", "Outer.Kind", "Outer.Kind.Raw", "Other", "Other.Part"])
        #expect(file.ownNames.isSuperset(of: ["Hidden", "Inner", "Kind"]))
    }

    @Test func namesInCommentsAndStringsAreIgnored() {
        let file = file(
            ##"""
            // A Comment of /* Nothing
            /* Another /* nested */ Comment */
            let text = "Text with \(Interpolated.value("Quote")) and \" Escape"
            let raw = #"Raw "quoted" \(Kept) \#(Used.self)"#
            let long = """
                Long "text" \(Inside.name)
                """
            """##)
        #expect(file.names == ["Interpolated", "Used", "Inside"])
    }

    @Test func conditionsOfConditionalCompilationAreIgnored() {
        let file = file(
            """
            #if Trait
            let value = Used.value
            #elseif Other
            #endif
            """)
        #expect(file.names == ["Used"])
    }

    @Test func genericParametersBelongToTheFile() {
        let file = file("func sum<Element: Numeric, Other>(_ values: [Element]) where Other: Hashable {}")
        #expect(file.ownNames == ["Element", "Other"])
    }

    @Test func importedModulesAreFound() {
        let several = file("public import Alpha\n@testable import Beta\nimport struct Gamma.Delta")
        #expect(several.imports == ["Alpha", "Beta", "Gamma"] && several.types.isEmpty)
        #expect(file("@_exported public import Alpha").imports == ["Alpha"])
    }
}
