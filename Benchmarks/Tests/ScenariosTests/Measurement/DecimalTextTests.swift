import Testing

@testable import Scenarios

@Suite struct DecimalTextTests {
    @Test(arguments: [
        (0.0, 0, "0"), (999.4, 0, "999"), (999.5, 0, "1,000"), (1_234_567, 0, "1,234,567"), (0.05, 2, "0.05"),
        (0.999, 2, "1.00"), (12_345.678, 1, "12,345.7"), (-6.29, 1, "-6.3"), (-0.001, 1, "0.0"),
        (1e300, 0, "-"), (.nan, 2, "-"),
    ])
    func numbersAreRoundedAndGrouped(value: Double, decimals: Int, text: String) {
        #expect(DecimalText.text(value, decimals: decimals) == text)
    }
}
