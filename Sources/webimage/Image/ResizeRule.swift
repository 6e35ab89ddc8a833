import AsyncWebImage

/// The size of an image of a dataset, which depends on whether the image is larger than requested; as in img2dataset.
struct ResizeRule: Sendable, Equatable {
    /// The ways to give images a size.
    enum Mode: String, CaseIterable, Sendable {
        /// The longer side gets the length, and white margins make the image square.
        case border
        /// The shorter side gets the length.
        case keepRatio = "keep_ratio"
        /// The longer side gets the length.
        case keepRatioLargest = "keep_ratio_largest"
        /// The shorter side gets the length, and the longer one is cropped to it.
        case centerCrop = "center_crop"
    }

    let mode: Mode
    /// The length of a side in pixels.
    let side: Int
    /// A Boolean value that indicates whether images that need not be reduced are left as they are, instead of being
    /// enlarged, padded, and cropped.
    let leavesSmallerImages: Bool

    /// The target for images that are resized.
    var target: DecodeOptions.Target {
        switch mode {
        case .border, .keepRatioLargest: .maximumSide(side)
        case .keepRatio: .shorterSide(side)
        case .centerCrop: .fill(square)
        }
    }

    /// Returns `options` with the size for an image of `size`.
    ///
    /// Images are enlarged with Lanczos-3: filters that are fast to shrink an image show its pixels when it is enlarged.
    func applied(to options: DecodeOptions, for size: PixelSize) -> DecodeOptions {
        var options = options
        options.target = target
        guard !reduces(size) else { return options }
        if leavesSmallerImages {
            options.target = .original
        } else {
            options.allowsUpscaling = true
            options.resampling.filter = .lanczos3
        }
        return options
    }

    /// Returns the size to which an image of `size` is padded once it has been scaled; `nil` for none.
    func canvas(for size: PixelSize) -> PixelSize? {
        mode == .border && (reduces(size) || !leavesSmallerImages) ? square : nil
    }

    private var square: PixelSize { PixelSize(width: side, height: side) }

    private func reduces(_ size: PixelSize) -> Bool {
        switch mode {
        case .border, .keepRatioLargest: max(size.width, size.height) > side
        case .keepRatio, .centerCrop: min(size.width, size.height) > side
        }
    }
}
