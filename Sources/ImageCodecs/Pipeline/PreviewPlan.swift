/// The sizes of a preview: those of the image, or smaller ones where that is too large.
struct PreviewPlan: Hashable {
    /// Size of the rows the codec hands out.
    let rowSize: PixelSize
    /// The part of them that is shown.
    let rowRegion: PixelRegion
    /// Size of the preview before it is turned upright.
    let scaledSize: PixelSize

    /// A preview, neither side of it longer than `maximumSide`, of the image of `plan`.
    ///
    /// `codecSize` tells the size of the rows of a codec that renders smaller ones, for a side they shall not exceed. If
    /// it does, they are used as they are, so that nothing has to be filtered that would not be in the image itself.
    init(of plan: DecodePlan, maximumSide: Int, codecSize: (_ maximumSide: Int) -> PixelSize?) {
        let whole = plan.scaledSize
        let side = max(whole.width, whole.height)
        guard side > max(maximumSide, 1) else {
            (rowSize, rowRegion, scaledSize) = (plan.rowSize, plan.rowRegion, whole)
            return
        }
        // Sides are below 2^31, and the longest one wanted is shorter than the image's.
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
