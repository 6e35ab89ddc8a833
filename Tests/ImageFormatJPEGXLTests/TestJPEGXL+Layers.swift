#if JPEGXL
import Foundation

/// Files that the encoder of libjxl 0.7 made, as `cjxl` makes none with layers.
extension TestJPEGXL {
    /// 16x16 pixels below which there is a layer of 1100x1000, which libjxl allocates completely.
    static let layerOf1100x1000 = decoded(
        """
        /wpDQCQIIgAAxLTQhQAAbMEBAEADNEADNMABNEADNEADHEADNEADNMABNEADNEADHAArWZGCgsI9SwDnyq12CQpQ+3dK3quPeHfQwXCH4EloN/\
        RpEo3rRQ/a1R8fD8aGY26+BJdHyP4hej1Ls9TX6bEOeejSE0fP/8VZSLHU/18AIECDGQB4FPT8mZMEEz0VAJCTBCMPngYAFYXp9PyZkwQjD54G\
        ABWF6fT8mZMEIw+eBgAVhen0/JmTBCMPngYAFYXp9PyZkwRjR4gPkJMEIw+eBgAVhen0/JmTBCMPngYAFYXp9PyZkwQjD54GABWF6fT8mZMEIw\
        +eBgAVhen0/JmTBGNHiA+QkwQjD54GABWF6fT8mZMEIw+eBgAVhen0/JmTBCMPngYAFYXp9PyZkwQjD54GABWF6fT8mZMEY0eID5CTBMNlFgAA\
        FYXp9PyZkwTDZRYAABWF6fT8mZMEw2UWAAAVhen0/JmTBMNlFgAAFYXp9PyZkwRTfFIEkJMECCIIIIAAAgUARABLEsWCBVJshfovABAj+lUTCA\
        ==
        """)

    /// The same image with a layer of 200x200 pixels, of which it shows a part.
    static let layerOf200x200 = decoded(
        """
        /wpDQCQIIiecgAwyAgBsAStZkYKCwj1LAOfKrXYJClD7d0req494d9DBcIfgSWg39GkSjetFD9rVHx8PxoZjbr4El0fI/iF6PUuz1NfpsQ556N\
        ITR8//xVlIsdT/XwAgQIPzBSkw9PyZkwQIIggggAACBQBEAEsSxYIFUmyF+i8AECP6VRMI
        """)

    /// An animation of 16x16 pixels, whose second frame has a layer of 1100x1000.
    static let animatedLayerOf1100x1000 = decoded(
        """
        /wpDBE0AICYIAgkAAEwASxIJEhg4BEFIsVT9PwBEAxKcBAgiAADEtNAFAgBMAQAAwAM8wAM8QAI8wAM8wAMkwAM8wAM8QAI0QAM0QAMkACtZkY\
        KCwj1LAOfKrXYJClD7d0req494d9DBcIfgSWg39GkSjetFD9rVHx8PxoZjbr4El0fI/iF6PUuz1NfpsQ556NITR8//xVlIsdT/PwAAABMAAzQO\
        AxBdR1BRmE7PnzlJAzQOAxBdR1BRmE7PnzlJAzQOAxBdR1BRmE7PnzlJAzQOAxBdR1BRmE7PnzlJAzTJAUCBQDlJAzQOAxBdR1BRmE7PnzlJAz\
        QOAxBdR1BRmE7PnzlJAzQOAxBdR1BRmE7PnzlJAzQOAxBdR1BRmE7PnzlJAzTJAUCBQDlJAzQOAxBdR1BRmE7PnzlJAzQOAxBdR1BRmE7PnzlJ\
        AzQOAxBdR1BRmE7PnzlJAzQOAxBdR1BRmE7PnzlJAzTJAUCBQDlJAzRVq0hQUZhOz585SQM0VatIUFGYTs+fOUkDNFWrSFBRmE7PnzlJAzRVq0\
        hQUZhOz585SQM0eABgAkI5SQgiCCCAAAIVAEAASxLFggVSbIX6HwAj+lUTCA==
        """)

    /// 300x300 pixels: a layer with passes, and one above it.
    static let progressiveLayer = decoded(
        """
        /wpYmQEKAQAAxAIAOABYAFhKEilRvYACGHAfxvu4CoIgKAkpKChcg2xExEbFGBWDdyE/cz8GbQyOjcHYjTFujPFPQIj6m1hUCg/fue7uH/+jvz\
        ZfuWhSHzdLFJ6hGNUsze8KgFd7/QRIVKFYuopNNnRzc+jhcy9qCIGDhXxfQ3PYmn3JNSrroYqjxuKwJMUVCu5wfQCYupD6MDkwBNg1/WH3DEqV\
        7voG4MQ+XK1MQ1VN822QAGBgMNnBIJzgwwQEBACcAAJcAAJ4AAEgAItNCQCACpVRxg1ezvV8+aHDYtrGdYa22rawJBFKgRQ4bYzB2BjjAqMdY6\
        5UUD48OQBICKUBRQv/38uSLFByVw4mBUUWNwC9jX4Tusq2dTyCAgARUVVu6ILC8EmQ2IIIrYIX7ZUmp7/FZQLhwYR9Ww2/xYcGZQLhwQATQQAB\
        BBAoCAC8AItNCQCACpVRxg1ezvV8+aHDYtrGdYa22rawJFFkHJukEzgkiQUaQBgwc4TBqiQB
        """)

    private static func decoded(_ base64: String) -> [UInt8] { Data(base64Encoded: base64).map { Array($0) } ?? [] }
}
#endif
