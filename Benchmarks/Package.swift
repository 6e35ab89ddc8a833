// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that dependents of the library do not resolve the dependencies of its benchmarks.
let package = Package(
    name: "async-web-image-benchmarks",
    products: [
        .executable(name: "scenarios", targets: ["Scenarios"]),
        .executable(name: "thumbnail", targets: ["Thumbnail"]),
    ],
    dependencies: [
        .package(name: "async-web-image", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        // The limit of libcurl and the kernel: a plain loop in C.
        .target(name: "CurlMultiLoop", linkerSettings: [.linkedLibrary("curl")]),
        // The limits of libjpeg, alone and with libcurl: plain loops in C.
        .target(name: "JPEGLoop", linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("jpeg")]),
        // libvips, if it is installed: the limit for transformations.
        .target(name: "VipsLoop"),
        // Delays connections like a long line.
        .target(name: "DelayingProxy"),
        // Counts the allocations of the scenarios.
        .target(name: "AllocationCounter"),
        .target(
            name: "Engines",
            dependencies: [
                "CurlMultiLoop",
                .product(name: "AsyncWebImage", package: "async-web-image"),
                .product(name: "ImageCodecs", package: "async-web-image"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .executableTarget(
            name: "Scenarios",
            dependencies: [
                "AllocationCounter", "DelayingProxy", "Engines", "JPEGLoop", "VipsLoop",
                .product(name: "AsyncWebImage", package: "async-web-image"),
                .product(name: "ImageCodecs", package: "async-web-image"),
                .product(name: "ImageEncoders", package: "async-web-image"),
                .product(name: "ImageProcessing", package: "async-web-image"),
                .product(name: "LoopbackOrigin", package: "async-web-image"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ]),
        .executableTarget(
            name: "Thumbnail",
            dependencies: [
                .product(name: "ImageCodecs", package: "async-web-image"),
                .product(name: "ImageEncoders", package: "async-web-image"),
            ]),
        .executableTarget(
            name: "MicroBenchmarks",
            dependencies: [
                .product(name: "AsyncWebImage", package: "async-web-image"),
                .product(name: "HTTPTransport", package: "async-web-image"),
                .product(name: "ImageCodecs", package: "async-web-image"),
                .product(name: "ImageEncoders", package: "async-web-image"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/MicroBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),

        .testTarget(
            name: "EnginesTests",
            dependencies: [
                "Engines",
                .product(name: "ImageCodecs", package: "async-web-image"),
                .product(name: "ImageEncoders", package: "async-web-image"),
                .product(name: "LoopbackOrigin", package: "async-web-image"),
            ]),
        .testTarget(
            name: "ScenariosTests",
            dependencies: [
                "AllocationCounter", "DelayingProxy", "Scenarios", "Engines", "VipsLoop",
                .product(name: "ImageCodecs", package: "async-web-image"),
                .product(name: "ImageProcessing", package: "async-web-image"),
                .product(name: "LoopbackOrigin", package: "async-web-image"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// One set of rules for every Swift target, the library's.
for target in package.targets where target.name != "CurlMultiLoop" {
    var settings: [SwiftSetting] = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .treatAllWarnings(as: .error),
    ]
    if target.type != .test {
        settings.append(.strictMemorySafety())
        settings.append(.treatWarning("ExplicitSendable", as: .error))
    }
    target.swiftSettings = settings
}
