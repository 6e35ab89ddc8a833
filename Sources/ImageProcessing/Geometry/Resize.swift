import ImageCodecs

/// Scaling to another size, by the rules of ``ImageCodecs/DecodeOptions/Target``.
struct Resize: PixelOperation {
    let target: DecodeOptions.Target
    let resampling: Resampling
    let allowsUpscaling: Bool

    var name: String { "resize" }

    var parameters: String {
        "\(target.identity),\(resampling.filter.rawValue)\(resampling.usesLinearLight ? ",linear" : "")"
            + (allowsUpscaling ? ",enlarging" : "")
    }

    private func plan(_ size: PixelSize) -> ScalePlan {
        let options = DecodeOptions(target: target, allowsUpscaling: allowsUpscaling)
        return ScalePlan(of: size, orientation: .up, options: options)
    }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize { plan(size).scaledSize }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int {
        let plan = plan(size)
        let resampler = BandResampler.workingBytes(
            from: size, region: plan.region, to: plan.scaledSize, filter: resampling.filter)
        let rows = size.width * 8 + plan.scaledSize.width * 8
        let (sum, overflow) = outputBytes(for: size, format).addingReportingOverflow(resampler + rows)
        return overflow ? .max : sum
    }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        let plan = plan(image.size)
        guard plan.scaledSize != image.size else { return image }
        return try image.turned(
            .up, region: plan.region, scaledTo: plan.scaledSize, resampling: resampling, hasAlpha: !image.isOpaque
        ) { () throws(CancellationError) in
            if Task.isCancelled { throw CancellationError() }
        }
    }
}
