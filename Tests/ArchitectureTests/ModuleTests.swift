import Testing

/// The dependencies that are found, and those that the layers reject.
struct ModuleTests {
    private let layers = Layers([["Low"], ["Left", "Right"], ["High"]])

    private func refused(_ sources: [(path: String, source: String)]) -> Set<String> {
        let module = Module("M", sources)
        return Set(module.dependencies.filter { !layers.allow($0.folder, $0.target) }.map(\.type))
    }

    @Test func foldersMayUseTypesOfLowerLevels() {
        #expect(refused([("Low/A.swift", "struct A {}"), ("High/B.swift", "struct B { let a: A }")]).isEmpty)
    }

    @Test func foldersMayNotUseTypesOfHigherLevels() {
        #expect(refused([("Low/A.swift", "struct A { let b: B }"), ("High/B.swift", "struct B {}")]) == ["B"])
    }

    @Test func foldersOfTheSameLevelMayNotUseEachOther() {
        let sources = [("Left/A.swift", "struct A { let b: B }"), ("Right/B.swift", "struct B {}")]
        #expect(refused(sources) == ["B"])
    }

    @Test func nestedTypeBelongsToTheFolderThatDeclaresIt() {
        let sources = [
            ("Low/A.swift", "struct A {}"), ("High/B.swift", "extension A { struct Part {} }"),
            ("Left/C.swift", "let part: A.Part? = nil"),
        ]
        #expect(refused(sources) == ["A.Part"])
    }

    @Test func nestedTypeShadowsTypeOfTheSameName() {
        let sources = [
            ("Low/A.swift", "struct A { enum Kind {} }"),
            ("Low/A+Kind.swift", "extension A { var kind: Kind? { nil } }"),
            ("High/Kind.swift", "enum Kind {}"),
        ]
        #expect(refused(sources).isEmpty)
    }

    @Test func aFolderWithoutALevelIsRejected() {
        #expect(refused([("Low/A.swift", "struct A {}"), ("New/B.swift", "struct B { let a: A }")]) == ["A"])
    }
}
