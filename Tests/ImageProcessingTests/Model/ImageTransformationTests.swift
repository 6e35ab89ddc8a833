import ImageCodecs
import ImageProcessing
import Testing

struct ImageTransformationTests {
    private let image = Samples.noise(PixelSize(width: 30, height: 20))

    /// Caches on disk rely on these texts.
    @Test func identifiersAreStable() {
        let transformations: [(ImageTransformation, String)] = [
            (.crop(x: 1, y: 2, width: 3, height: 4), "crop(3x4+1+2)"),
            (.crop(toAspectRatio: 16, 9), "crop(16:9@0.5,0.5)"), (.smartCrop(toAspectRatio: 1, 1), "smartCrop(1:1)"),
            (.pad(left: 1, color: .white), "pad(1,0,0,0,#ffffff)"),
            (.pad(to: PixelSize(width: 5, height: 6)), "pad(5x6@0.5,0.5,#00000000)"),
            (.rotate(degrees: -90), "rotate(270)"), (.flip(.vertical), "flip(vertical)"),
            (.resize(to: .maximumSide(9)), "resize(maximumSide:9,lanczos3)"), (.trim(), "trim(10)"),
            (.blur(sigma: 8), "blur(8.0)"), (.sharpen(), "sharpen(1.0,1.0)"), (.rounded(radius: 4), "rounded(4.0)"),
            (.circle, "circle()"), (.brightness(2), "brightness(2.0)"), (.contrast(0.5), "contrast(0.5)"),
            (.grayscale, "saturation(0.0)"), (.tint(.black), "tint(#000000)"),
            (.flatten(onto: .white), "flatten(#ffffff)"),
            (.custom(identifier: "x", workingBytes: { _ in 0 }) { $0 }, "custom(x)"),
        ]
        for (transformation, text) in transformations { #expect(transformation.identifier == text) }
        #expect(Set(transformations.map(\.0)).count == transformations.count)
    }

    @Test func transformationsAreAppliedInOrder() throws {
        let result = try image.applying([.crop(x: 0, y: 0, width: 10, height: 20), .rotate(degrees: 90)])
        #expect(result.size == PixelSize(width: 20, height: 10))
        // After the rotation, the rectangle would be outside.
        #expect(throws: CodecError.self) {
            try image.applying([.rotate(degrees: 90), .crop(x: 0, y: 0, width: 30, height: 20)])
        }
        #expect(try image.applying([]) == image)
    }

    @Test func nothingIsDoneIfALaterTransformationIsImpossible() {
        let first = ImageTransformation.custom(identifier: "never", workingBytes: { _ in 0 }) { image in
            Issue.record("applied")
            return image
        }
        #expect(throws: CodecError.self) { try image.applying([first, .rotate(degrees: 1)]) }
    }

    @Test func everyTransformationRefusesAnEmptyImage() {
        let empty = PixelBuffer(transparent: PixelSize(width: 0, height: 7))
        for transformation in [ImageTransformation.blur(sigma: 1), .trim(), .circle, .resize(to: .maximumSide(3))] {
            #expect(throws: CodecError.self) { try empty.applying(transformation) }
            #expect(transformation.workingBytes(for: empty.size) == 0)
        }
    }

    @Test func sizesBeyondAllLimitsDoNotOverflow() {
        let size = PixelSize(width: .max, height: .max)
        for transformation in [
            ImageTransformation.blur(sigma: 1), .trim(), .circle, .rotate(degrees: 90), .pad(left: 3),
            .crop(toAspectRatio: 3, 2), .smartCrop(toAspectRatio: 1, 9), .overlay(image), .grayscale,
        ] {
            #expect(throws: CodecError.self) { try transformation.outputSize(for: size) }
            #expect(transformation.workingBytes(for: size) == 0)
        }
    }

    @Test func canceledTaskEndsEveryTransformation() async {
        for transformation in [
            ImageTransformation.blur(sigma: 1), .trim(), .circle, .rotate(degrees: 90), .resize(to: .maximumSide(3)),
            .crop(x: 0, y: 0, width: 3, height: 3), .smartCrop(toAspectRatio: 1, 1), .pad(left: 1), .grayscale,
            .flatten(onto: .white), .overlay(image), .sharpen(),
        ] {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try image.applying(transformation)
            }
            await #expect(throws: CancellationError.self, "\(transformation)") { try await task.value }
        }
    }

    @Test func transformationsOfTheSameSizeReplaceThePixelsInPlace() throws {
        var image = image
        image.bytes.reserveCapacity(10_000)
        func address(_ image: borrowing PixelBuffer) -> UInt {
            image.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        }
        let before = address(image)
        let result = try (consume image).applying([
            .blur(sigma: 2), .grayscale, .rounded(radius: 3), .flatten(onto: .white),
        ])
        #expect(address(result) == before)
    }

    @Test func customTransformationReturnsAnyImage() throws {
        let half = ImageTransformation.custom(
            identifier: "half", outputSize: { PixelSize(width: $0.width, height: max(1, $0.height / 2)) },
            workingBytes: { $0.area * 4 }
        ) { image in
            try image.applying([.crop(x: 0, y: 0, width: image.width, height: max(1, image.height / 2))])
        }
        #expect(try half.outputSize(for: image.size) == PixelSize(width: 30, height: 10))
        #expect(try image.applying([half, .rotate(degrees: 90)]).size == PixelSize(width: 10, height: 30))
        #expect(half.workingBytes(for: image.size) == 2400)
    }

    @Test func customTransformationFailsUnderItsName() {
        struct Broken: Error, CustomStringConvertible { var description: String { "no ink" } }
        let broken = ImageTransformation.custom(identifier: "print", workingBytes: { _ in 0 }) { _ in throw Broken() }
        #expect(throws: CodecError.transformationFailed("print", "no ink")) { try image.applying(broken) }
        let larger = ImageTransformation.custom(identifier: "larger", workingBytes: { _ in 0 }) {
            try $0.applying([.pad(left: 1)])
        }
        #expect(
            throws: CodecError.transformationFailed(
                "larger", "the result of 31x20 is empty or larger than the declared 30x20")
        ) {
            try image.applying(larger)
        }
    }

    @Test func customTransformationMustKeepTheFormat() {
        let gray = ImageTransformation.custom(identifier: "gray", workingBytes: { $0.area }) {
            $0.converted(to: .gray8)
        }
        #expect(
            throws: CodecError.transformationFailed("gray", "the result has the format gray8 instead of rgba8")
        ) {
            try image.applying(gray)
        }
    }

    @Test func customTransformationCannotDeclareAnEmptyResult() {
        let nothing = ImageTransformation.custom(
            identifier: "nothing", outputSize: { PixelSize(width: 0, height: $0.height) }, workingBytes: { _ in 0 }
        ) { $0 }
        #expect(throws: CodecError.transformationFailed("custom", "the result of 0x20 is empty")) {
            try nothing.outputSize(for: image.size)
        }
    }

    /// Memory is granted for the sizes that are known before the pixels are.
    @Test func narrowContentIsNotEnlargedBeyondThePlannedSizes() throws {
        let content = Samples.noise(PixelSize(width: 2, height: 40), isOpaque: true)
        let picture = try content.applying([.brightness(0.5), .pad(left: 20, right: 18, color: .white)])
        let enlarging = ImageTransformation.resize(to: .shorterSide(50), allowsUpscaling: true)
        #expect(throws: CodecError.overLimit(.pixels, value: 50 * 1_000, limit: 50 * 50)) {
            try picture.applying([.trim(), enlarging])
        }
        // Small results of another shape fit into the memory of the image.
        let reduced = try picture.applying([.trim(), .resize(to: .shorterSide(1))])
        #expect(reduced.size == PixelSize(width: 1, height: 20))
    }

    @Test func positionsAreInsideTheImage() {
        let position = ImageTransformation.Position(x: .nan, y: .infinity)
        #expect(position.x == 0)
        #expect(position.y == 1)
    }
}
