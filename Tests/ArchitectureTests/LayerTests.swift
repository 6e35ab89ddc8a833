import Testing

/// Dependencies between modules, and between the folders of a module, point down only.
struct LayerTests {
    /// The modules of the package by levels, from the lowest to the highest.
    ///
    /// A module imports those of lower levels alone. Those in C are in front of all others.
    private static let modules = Layers([
        ["HTTPSemantics", "Hashing", "SocketPolling", "Threading"],
        ["WebimageConsole"],
        ["HTTPTransport", "ImageCodecs", "LoopbackOrigin"],
        ["ImageEncoders", "ImageProcessing", "ResponseCache"],
        [
            "AsyncWebImage", "ImageFormatAVIF", "ImageFormatHEIC", "ImageFormatJPEGXL", "ImageFormatTIFF",
            "ImageFormatSVG",
        ],
        ["AsyncWebImageTesting", "webimage"],
    ])

    /// The folders of modules by levels, from the lowest to the highest.
    private static let folders: [String: Layers] = [
        // Events are sent by bodies and downloads, so their observers are below these.
        "AsyncWebImage": Layers([
            ["Support", "Source"],
            ["Requirement"],
            ["Error"],
            ["Settings", "Slot"],
            ["Request"],
            ["Result"],
            ["MemoryCache", "Schedule"],
            ["Observe"],
            ["Body"],
            ["Decode"],
            ["Download/Callers"],
            ["Download/Machine"],
            ["Download/Route"],
            ["Download"],
            ["Loader"],
            ["Loader/Many"],
            ["Loader/Prefetch"],
            [""],
        ]),
        "HTTPTransport": Layers([
            ["Support"],
            ["Model"],
            ["URL"],
            ["Policy"],
            ["Credentials", "Resolution", "Security"],
            [""],
            ["ContentCoding", "HTTP1", "HTTP2"],
            ["TLS", "Transfers"],
            ["Connections"],
            ["Curl"],
        ]),
        "ImageCodecs": Layers([
            ["Support"],
            ["Model"],
            ["Resampling"],
            ["Color", "Metadata"],
            ["Formats/Descriptor"],
            ["Formats/JPEG", "Formats/PNG", "Formats/WebP", "Formats/GIF", "Formats/BMP", "Formats/Custom"],
            ["Formats/ICO"],
            ["Formats"],
            ["Pipeline"],
            ["Animation", "Fingerprint", "Palette", "Verification"],
        ]),
        "ImageEncoders": Layers([
            ["Encoder"],
            ["JPEG", "PNG", "WebP", "GIF"],
            [""],
        ]),
        "ImageFormatJPEGXL": Layers([
            ["Scanner"],
            [""],
        ]),
        "ImageProcessing": Layers([
            ["Support"],
            ["Model"],
            ["Blur", "Color", "Geometry", "Placeholder", "Shape"],
            [""],
        ]),
        "ResponseCache": Layers([
            ["Entry"],
            ["Decision", "Folder", "Memory"],
            [""],
            ["Exchange"],
        ]),
        "webimage": Layers([
            ["JSON"],
            ["Files"],
            ["Image"],
            ["Options"],
            ["Batch/Input", "Batch/Robots", "Cache"],
            ["Get"],
            ["Batch/Record", "Info"],
            ["Batch/Stream"],
            ["Batch/Shards"],
            ["Batch/Run"],
            ["Batch/Options"],
            ["Batch"],
            [""],
        ]),
    ]

    @Test func modulesImportOnlyLowerLevels() throws {
        let all = try Module.all().filter { !$0.hasPrefix("C") }
        for name in all {
            #expect(Self.modules.level(of: name) != nil, "\(name) has no level: add it to `modules`")
            for file in try Module(name).files {
                for imported in file.imports where all.contains(imported) {
                    #expect(Self.modules.allow(name, imported), "\(file.path) of \(name) imports \(imported)")
                }
            }
        }
    }

    @Test(arguments: folders.keys.sorted())
    func foldersDependOnlyOnLowerLevels(module name: String) throws {
        let module = try Module(name)
        let layers = try #require(Self.folders[name])
        for folder in Set(module.files.map(\.folder)) {
            #expect(
                layers.level(of: folder) != nil, "the folder \(folder) of \(name) has no level: add it to `folders`")
        }
        for dependency in module.dependencies where !layers.allow(dependency.folder, dependency.target) {
            Issue.record(
                """
                \(dependency.file) names \(dependency.type): the folder \(dependency.folder) may not depend on \
                \(dependency.target)
                """)
        }
    }
}
