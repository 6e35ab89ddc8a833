// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "async-web-image",
    products: [
        .library(name: "AsyncWebImage", targets: ["AsyncWebImage"]),
        // For transports and storages of one's own; AsyncWebImage exports the types that most users name.
        .library(name: "HTTPTransport", targets: ["HTTPTransport"]),
        .library(name: "ResponseCache", targets: ["ResponseCache"]),
        // The codecs alone, for applications that have the bytes already.
        .library(name: "ImageCodecs", targets: ["ImageCodecs"]),
        // Changes to pixels, such as crops and blurs.
        .library(name: "ImageProcessing", targets: ["ImageProcessing"]),
        // Image files to be written.
        .library(name: "ImageEncoders", targets: ["ImageEncoders"]),
        // Formats of their own libraries, each with the trait of the same name.
        .library(name: "ImageFormatAVIF", targets: ["ImageFormatAVIF"]),
        .library(name: "ImageFormatHEIC", targets: ["ImageFormatHEIC"]),
        .library(name: "ImageFormatJPEGXL", targets: ["ImageFormatJPEGXL"]),
        .library(name: "ImageFormatTIFF", targets: ["ImageFormatTIFF"]),
        .library(name: "ImageFormatSVG", targets: ["ImageFormatSVG"]),
        // The process in which ImageFormatSVG renders.
        .executable(name: "webimage-svg", targets: ["webimage-svg"]),
        .executable(name: "webimage", targets: ["webimage"]),
        // For tests and benchmarks of applications that use the library.
        .library(name: "LoopbackOrigin", targets: ["LoopbackOrigin"]),
        .library(name: "AsyncWebImageTesting", targets: ["AsyncWebImageTesting"]),
    ],
    // Their dependencies are resolved and built only if the trait is enabled.
    traits: [
        .trait(name: "AVIF", description: "AVIFFormat and AVIFEncoder, with libavif."),
        .trait(name: "HEIC", description: "HEICFormat, with libheif."),
        .trait(name: "JPEGXL", description: "JPEGXLFormat, JPEGXLEncoder, and JPEGXL, with libjxl."),
        .trait(name: "SVG", description: "SVGFormat, with librsvg in a process of its own."),
        .trait(name: "ServiceLifecycle", description: "ImageLoaderService, for swift-service-lifecycle."),
        .trait(name: "TIFF", description: "TIFFFormat, with libtiff."),
        .trait(name: "Tracing", description: "A span for each download, for swift-distributed-tracing."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // C libraries: module maps, and shims for functions that Swift cannot call (variadics, setjmp).
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibJPEG", pkgConfig: "libjpeg",
            providers: [.apt(["libjpeg62-turbo-dev"])]),
        .systemLibrary(
            name: "CLibPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(
            name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(
            name: "CWebPWriter", pkgConfig: "libwebpmux libwebp",
            providers: [.apt(["libwebp-dev"])]),
        // libwebp's own player of animations, for the tests.
        .systemLibrary(
            name: "CWebPDemux", pkgConfig: "libwebpdemux libwebp",
            providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(
            name: "CLibLCMS", pkgConfig: "lcms2", providers: [.apt(["liblcms2-dev"])]),
        .systemLibrary(name: "CGIF", providers: [.apt(["libgif-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // OpenSSL, which libcurl uses as well.
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // HTTP/2.
        .systemLibrary(
            name: "CNghttp2", pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"])]),
        // With the trait AVIF. Its pkg-config file has a flag that SwiftPM refuses.
        .systemLibrary(name: "CAVIF", providers: [.apt(["libavif-dev"])]),
        // With the trait HEIC.
        .systemLibrary(name: "CHEIF", providers: [.apt(["libheif-dev"])]),
        // With the trait JPEGXL. Its pkg-config file has a flag that SwiftPM refuses, too.
        .systemLibrary(name: "CJXL", providers: [.apt(["libjxl-dev"])]),
        // With the trait TIFF.
        .systemLibrary(name: "CTIFF", pkgConfig: "libtiff-4", providers: [.apt(["libtiff-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CJPEG", dependencies: ["CLibJPEG"]),
        .target(name: "CPNG", dependencies: ["CLibPNG"], linkerSettings: [.linkedLibrary("z")]),  // libpng's own
        // The encoders of these libraries. The error handling is the one of the decoder.
        .target(name: "CJPEGWriter", dependencies: ["CJPEG"], cSettings: [.headerSearchPath("../CJPEG")]),
        .target(name: "CPNGWriter", dependencies: ["CPNG"]),
        .target(name: "CLCMS", dependencies: ["CLibLCMS"]),
        // Vector and checksum instructions that Swift has no names for.
        .target(name: "CResampling"),
        .target(name: "CChecksum"),

        .target(
            name: "Threading",
            dependencies: ["CLinux", .product(name: "DequeModule", package: "swift-collections")]),
        .target(name: "Hashing", dependencies: ["CChecksum", "COpenSSL", "CZlib"]),
        .target(name: "SocketPolling", dependencies: ["CLinux"]),
        .target(
            name: "HTTPSemantics", dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")]),
        .target(
            name: "HTTPTransport",
            dependencies: [
                "CCurl", "CLinux", "CNghttp2", "COpenSSL", "CZlib", "HTTPSemantics", "SocketPolling", "Threading",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(name: "ImageCodecs", dependencies: ["CJPEG", "CPNG", "CResampling", "CWebP", "CLCMS", "Hashing"]),
        .target(name: "ImageProcessing", dependencies: ["CResampling", "Hashing", "ImageCodecs"]),
        .target(
            name: "ImageEncoders",
            dependencies: ["ImageCodecs", "CJPEG", "CJPEGWriter", "CPNGWriter", "CWebPWriter", "CGIF"]),
        // Empty without their traits.
        .target(
            name: "ImageFormatAVIF",
            dependencies: [
                .target(name: "CAVIF", condition: .when(traits: ["AVIF"])), "ImageCodecs", "ImageEncoders",
            ]),
        .target(
            name: "ImageFormatHEIC",
            dependencies: [.target(name: "CHEIF", condition: .when(traits: ["HEIC"])), "ImageCodecs"]),
        .target(name: "ImageFormatSVG", dependencies: ["ImageCodecs"]),
        .executableTarget(
            name: "webimage-svg", path: "Sources/CSVG",
            cSettings: [.define("SVG", .when(traits: ["SVG"]))],
            linkerSettings: ["rsvg-2", "cairo", "m"].map { .linkedLibrary($0, .when(traits: ["SVG"])) }),
        .target(
            name: "ImageFormatJPEGXL",
            dependencies: [
                .target(name: "CJXL", condition: .when(traits: ["JPEGXL"])), "ImageCodecs", "ImageEncoders",
            ]),
        .target(
            name: "ImageFormatTIFF",
            dependencies: [.target(name: "CTIFF", condition: .when(traits: ["TIFF"])), "ImageCodecs"]),
        .target(
            name: "ResponseCache",
            dependencies: [
                "CLinux", "Hashing", "HTTPSemantics", "HTTPTransport", "Threading",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        .target(
            name: "AsyncWebImage",
            dependencies: [
                "HTTPSemantics", "HTTPTransport", "Hashing", "ImageCodecs", "ImageEncoders", "ImageProcessing",
                "ResponseCache", "Threading",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
            ]),
        .target(
            name: "LoopbackOrigin",
            dependencies: [
                "Threading",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        // Tests of applications without a network: a transport, a clock, and results.
        .target(
            name: "AsyncWebImageTesting",
            dependencies: [
                "AsyncWebImage", "HTTPTransport", "ImageCodecs", "ImageEncoders", "ResponseCache", "Threading",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // Code shared by the programs.
        .target(name: "WebimageConsole", dependencies: ["Threading"]),
        .executableTarget(
            name: "webimage",
            dependencies: [
                "AsyncWebImage", "CLinux", "CZlib", "Hashing", "HTTPTransport", "ImageCodecs", "ImageEncoders",
                "ImageProcessing", "Threading", "WebimageConsole",
                .target(name: "ImageFormatAVIF", condition: .when(traits: ["AVIF"])),
                .target(name: "ImageFormatHEIC", condition: .when(traits: ["HEIC"])),
                .target(name: "ImageFormatJPEGXL", condition: .when(traits: ["JPEGXL"])),
                .target(name: "ImageFormatTIFF", condition: .when(traits: ["TIFF"])),
                .target(name: "ImageFormatSVG", condition: .when(traits: ["SVG"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // Not part of the command, which would otherwise contain the origin and SwiftNIO. It shares the command's build.
        .executableTarget(
            name: "WebimageDemo",
            dependencies: ["AsyncWebImage", "WebimageConsole", "ImageEncoders", "LoopbackOrigin"],
            path: "Examples/Demo"),
        // The example of a service.
        .executableTarget(
            name: "ThumbnailService",
            dependencies: [
                "AsyncWebImage", "HTTPTransport", "ImageCodecs", "ImageEncoders", "ImageProcessing", "ResponseCache",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Examples/ThumbnailService"),

        // Code shared by the tests of several targets: servers, a proxy, and the state of a process.
        .target(
            name: "TestSupport",
            dependencies: [
                "HTTPTransport", "ResponseCache", "Threading",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/TestSupport"),
        // A custom image format of another module.
        .target(name: "QOI", dependencies: ["ImageCodecs", "ImageEncoders"], path: "Tests/QOI"),
        // Test images and reference decoders.
        .target(
            name: "ImageTestSupport", dependencies: ["ImageCodecs", "ImageEncoders"], path: "Tests/ImageTestSupport"),
        // Reads the sources.
        .testTarget(name: "ArchitectureTests"),
        .testTarget(name: "HashingTests", dependencies: ["CChecksum", "COpenSSL", "Hashing"]),
        .testTarget(name: "ThreadingTests", dependencies: ["TestSupport", "Threading"]),
        .testTarget(
            name: "SocketPollingTests", dependencies: ["SocketPolling", "TestSupport", "Threading"]),
        .testTarget(name: "LoopbackOriginTests", dependencies: ["LoopbackOrigin"]),
        .testTarget(
            name: "HTTPSemanticsTests",
            dependencies: [
                "HTTPSemantics", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "ResponseCacheTests",
            dependencies: [
                "Hashing", "HTTPSemantics", "HTTPTransport", "ResponseCache", "TestSupport", "Threading",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "HTTPTransportTests",
            dependencies: [
                "CNghttp2", "COpenSSL", "CZlib", "Hashing", "HTTPSemantics", "HTTPTransport", "LoopbackOrigin",
                "SocketPolling", "TestSupport", "Threading",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "ImageCodecsTests",
            dependencies: [
                "Hashing", "ImageCodecs", "ImageEncoders", "ImageTestSupport", "CResampling", "CWebPDemux",
                "CWebPWriter",
                "QOI",
            ]),
        .testTarget(
            name: "ImageProcessingTests",
            dependencies: ["CResampling", "ImageCodecs", "ImageProcessing", "ImageTestSupport"]),
        .testTarget(
            name: "ImageFormatAVIFTests",
            dependencies: [
                .target(name: "CAVIF", condition: .when(traits: ["AVIF"])), "ImageCodecs", "ImageEncoders",
                "ImageFormatAVIF", "ImageTestSupport",
            ]),
        .testTarget(
            name: "ImageFormatHEICTests",
            dependencies: [
                .target(name: "CHEIF", condition: .when(traits: ["HEIC"])), "ImageCodecs", "ImageEncoders",
                "ImageFormatHEIC", "ImageTestSupport",
            ]),
        // Starts webimage-svg.
        .testTarget(
            name: "ImageFormatSVGTests",
            dependencies: ["ImageCodecs", "ImageEncoders", "ImageFormatSVG", "ImageTestSupport"]),
        .testTarget(
            name: "ImageFormatJPEGXLTests",
            dependencies: ["ImageCodecs", "ImageEncoders", "ImageFormatJPEGXL", "ImageTestSupport"]),
        .testTarget(
            name: "ImageFormatTIFFTests",
            dependencies: [
                .target(name: "CTIFF", condition: .when(traits: ["TIFF"])), "ImageCodecs", "ImageEncoders",
                "ImageFormatTIFF", "ImageTestSupport",
            ]),
        .testTarget(
            name: "ImageEncodersTests", dependencies: ["ImageCodecs", "ImageEncoders", "ImageTestSupport", "QOI"]),
        .testTarget(
            name: "AsyncWebImageTests",
            dependencies: [
                "AsyncWebImage", "AsyncWebImageTesting", "HTTPSemantics", "HTTPTransport", "Hashing", "ImageCodecs",
                "ImageEncoders", "ImageProcessing", "ImageTestSupport", "LoopbackOrigin", "QOI", "ResponseCache",
                "TestSupport", "Threading",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(
                    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
            ]),
        .testTarget(
            name: "AsyncWebImageTestingTests", dependencies: ["AsyncWebImage", "AsyncWebImageTesting", "ImageCodecs"]),
        // The public HTTP caching test suite, if its data are present.
        .testTarget(
            name: "CacheConformanceTests",
            dependencies: [
                "AsyncWebImage", "LoopbackOrigin", "ResponseCache", "TestSupport", "Threading",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ], exclude: ["Results.txt"]),
        .testTarget(name: "WebimageConsoleTests", dependencies: ["WebimageConsole"]),
        .testTarget(
            name: "WebimageDemoTests",
            dependencies: ["WebimageDemo", "AsyncWebImage", "WebimageConsole", "LoopbackOrigin"]),
        .testTarget(
            name: "ThumbnailServiceTests",
            dependencies: [
                "ThumbnailService", "AsyncWebImage", "AsyncWebImageTesting", "HTTPTransport", "ImageCodecs",
                "ImageTestSupport", "LoopbackOrigin", "ResponseCache",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "WebimageTests",
            dependencies: [
                "webimage", "AsyncWebImage", "CZlib", "Hashing", "HTTPTransport", "ImageEncoders",
                .target(name: "ImageFormatAVIF", condition: .when(traits: ["AVIF"])),
                .target(name: "ImageFormatJPEGXL", condition: .when(traits: ["JPEGXL"])), "ImageTestSupport",
                "LoopbackOrigin", "TestSupport", "Threading", "WebimageConsole",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// One set of rules for every Swift target.
let cTargets = ["webimage-svg", "CChecksum", "CJPEG", "CJPEGWriter", "CPNG", "CPNGWriter", "CLCMS", "CResampling"]
for target in package.targets where target.type != .system && !cTargets.contains(target.name) {
    var settings: [SwiftSetting] = [
        .enableUpcomingFeature("ExistentialAny"),  // existentials are seen where they are paid for
        .enableUpcomingFeature("InternalImportsByDefault"),  // dependencies are exposed explicitly
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // async functions stay with their caller
        .enableUpcomingFeature("InferIsolatedConformances"),
        .treatAllWarnings(as: .error),
    ]
    if target.type != .test {
        settings.append(.strictMemorySafety())  // pointers stay in the C-facing files
        settings.append(.treatWarning("ExplicitSendable", as: .error))
    } else {
        // Optimizing the tests takes longer than running them.
        settings.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
    }
    target.swiftSettings = settings
}
