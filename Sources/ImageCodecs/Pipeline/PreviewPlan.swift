/// The sizes of a preview: those of the image, or smaller ones if the image is too large.
struct PreviewPlan: Hashable {
    /// The size of the rows that the codec produces.
    var rowSize: PixelSize
    /// The part of the rows that is shown.
    var rowRegion: PixelRegion
    /// The size of the preview before it is turned upright.
    let scaledSize: PixelSize

    /// Creates a plan for a preview with sides of at most `maximumSide` pixels, for the image of `plan`.
    ///
    /// `codecSize` returns the row size of a codec that can render smaller rows with sides up to the given maximum.
    /// Such rows are used as they are, so that no filter is applied that would not be applied to the image itself.
    init(of plan: DecodePlan, maximumSide: Int, codecSize: (_ maximumSide: Int) -> PixelSize?) {
        let whole = plan.scaledSize
        let side = max(whole.width, whole.height)
        guard side > max(maximumSide, 1) else {
            (rowSize, rowRegion, scaledSize) = (plan.rowSize, plan.rowRegion, whole)
            return
        }
        // Sides are below 2^31, and the longest requested side is shorter than the image's.
        let rowSide = max(plan.rowSize.width, plan.rowSize.height) * max(maximumSide, 1) / side
        rowSize = codecSize(rowSide) ?? plan.rowSize
        rowRegion = plan.rowRegion.scaled(from: plan.rowSize, to: rowSize)
        let isUnscaled = plan.rowRegion == PixelRegion(whole: plan.rowSize) && plan.rowSize == whole
        if isUnscaled, max(rowSize.width, rowSize.height) <= maximumSide {
            scaledSize = rowSize
        } else {
            let box = DecodeOptions(target: .maximumSide(maximumSide))
            scaledSize = ScalePlan(of: whole, orientation: .up, options: box).scaledSize
        }
    }
}
