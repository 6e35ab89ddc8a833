// swift-tools-version: 6.2
import PackageDescription

// A separate package, because libFuzzer provides the main function and has to instrument all of the code.
let package = Package(
    name: "async-web-image-fuzzing",
    products: [.executable(name: "fuzz", targets: ["Fuzz"])],
    dependencies: [.package(name: "async-web-image", path: "../..", traits: ["AVIF", "HEIC", "JPEGXL", "TIFF"])],
    targets: [
        // Links to files of the command, which no library has.
        .target(name: "CommandConsole"),
        .target(
            name: "CommandFiles",
            dependencies: ["CommandConsole", .product(name: "AsyncWebImage", package: "async-web-image")],
            swiftSettings: [
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // as in the command
                // The names of targets are unique across packages.
                .unsafeFlags(["-module-alias", "WebimageConsole=CommandConsole"]),
            ]),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CommandFiles",
                .product(name: "AsyncWebImage", package: "async-web-image"),
                .product(name: "ImageCodecs", package: "async-web-image"),
                .product(name: "ImageEncoders", package: "async-web-image"),
                .product(name: "ImageFormatAVIF", package: "async-web-image"),
                .product(name: "ImageFormatHEIC", package: "async-web-image"),
                .product(name: "ImageFormatJPEGXL", package: "async-web-image"),
                .product(name: "ImageFormatTIFF", package: "async-web-image"),
            ],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]),
    ],
    swiftLanguageModes: [.v6]
)
