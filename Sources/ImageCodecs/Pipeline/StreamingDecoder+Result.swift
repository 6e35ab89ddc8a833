// The result of a decode: the image, or the available part of it.
extension StreamingDecoder {
    /// Keeps the decoded part if `body` finds the file truncated or corrupt, and rethrows unless partial images are
    /// allowed.
    func orPartial(_ running: Running, _ body: () throws(CodecError) -> Void) throws(CodecError) {
        do {
            try body()
        } catch {
            guard error.isDamage else { throw error }
            running.decoder.salvage(to: running.pipeline)
            running.pipeline.flush()
            if running.pipeline.completeRows > 0 { partialImage = image(of: running, isPartial: true) }
            guard partialImage != nil, options.allowsPartial else { throw error }
            // The codec's memory is no longer needed.
            self.running = nil
            cachedPreview = nil
        }
    }

    func image(of running: Running, isPartial: Bool = false) -> DecodedImage {
        var header = running.header
        if !needsNoMoreBytes {
            header.frameCount = running.decoder.frameCount ?? header.frameCount
            // The end of a cut file is missing because pixels are.
            if !isPartial { header.warnings = running.decoder.warnings }
        }
        var orientation = running.plan.orientation
        if header.orientation == .up, let late = running.decoder.trailingOrientation { header.orientation = late }
        let isTurnedLate =
            !options.ignoresOrientation && !header.isBottomUp && header.orientation != orientation
        let sideways = isTurnedLate && header.orientation.swapsAxes ? running.sideways : nil
        sideways?.flush()
        var pixels = (sideways ?? running.pipeline).pixels
        var completeRows = (sideways ?? running.pipeline).completeRows
        var visibleSize = running.plan.visibleSize
        if sideways != nil, let scaling = running.plan.sidewaysScaling { visibleSize = scaling.region.size }
        if header.hasTrailingOrientation, !options.ignoresOrientation {
            // Fit again, because the target box applies to the upright image. The plan covers all orientations.
            let size = visibleSize == header.size ? header.size : pixels.size
            orientation = header.orientation
            let scaling = ScalePlan(of: size, orientation: orientation, options: options)
            if scaling.scaledSize != pixels.size || orientation != .up {
                let region = scaling.region.scaled(from: size, to: pixels.size)
                completeRows = completeRows * scaling.scaledSize.height / max(pixels.height, 1)
                pixels = pixels.turned(
                    orientation, region: region, scaledTo: scaling.scaledSize, resampling: options.resampling,
                    hasAlpha: header.hasAlpha || isPartial)
            }
            visibleSize = scaling.region.scaled(from: size, to: visibleSize).size
        } else if isTurnedLate {
            orientation = header.orientation
            pixels = pixels.turned(orientation, hasAlpha: header.hasAlpha || isPartial)
        }
        pixelMemory?.keep(pixels.bytes)
        return DecodedImage(
            pixels: pixels, header: header, originalSize: header.size.upright(orientation),
            visibleSize: visibleSize.upright(orientation), isPartial: isPartial || running.decoder.isDamaged,
            completeRows: completeRows, iccProfile: colors.profile(options))
    }
}
