internal import Pintle

/// Pins that documentation prints as examples, and that people copy into their apps. Each was found in the public
/// sources of the documentation. Keys of authorities are not among them, because they may be pinned.
enum SamplePins {
    /// Returns the documentation that prints the pin; `nil` for any other pin.
    static func source(of pin: PublicKeyPin) -> String? { sources[pin] }

    private static let sources: [PublicKeyPin: String] = {
        var sources: [PublicKeyPin: String] = [:]
        for (source, texts) in samples {
            for text in texts {
                if let pin = try? PublicKeyPin(text) { sources[pin] = source }
            }
        }
        return sources
    }()

    static let samples: [(source: String, pins: [String])] = [
        ("Pintle's own documentation", ownPins),
        ("OkHttp's documentation", ["afwiKY3RxoMmLkuRW1l7QsPZTJPwDS2pdDROQjXw8ig="]),
        (
            "TrustKit's documentation",
            [
                "HXXQgxueCIU5TTLHob/bPbwcKOKw6DkfsTWYHbxbqTY=", "0SDf3cRToyZJaMsoS17oF72VMavLxj/N7WBNasNuiR8=",
                "TQEtdMbmwFgYUifM4LDF+xgEtd0z69mPGmkp014d6ZY=", "rFjc3wG7lTZe43zeYTvPq8k4xdDEutCmIhI5dn4oCeE=",
            ]
        ),
        (
            "Android's documentation",
            ["7HIpactkIAq2Y49orFOOQKurWxmmSFZhBCoQYcRhJ3Y=", "fwza0LRMXouZHRC8Ei+4PyuldPDcf3UKgO/04cDM1oE="]
        ),
        (
            "RFC 7469",
            [
                "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=", "E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=",
                "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
            ]
        ),
        (
            "MDN's page about Public-Key-Pins",
            ["cUPcTAZWKaASuYWhhneDttWpY3oBAkE3h2+soZS7sWs=", "M8HztCzM3elUxkcjR2S5P4hhyBNf6lHkmjAHKhpGPWE="]
        ),
        ("OWASP's page about pinning", ["gdU/UHClHJBFbIdeKuyHm/Lq/aQvMLyuTtcvTEE/1JQ="]),
    ]

    /// The pins in the README, the articles and their snippets.
    private static let ownPins = [
        "bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=", "IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=",
        "G3R3ndolfPXNTUWk8DKA64dIb9/12RNUaG8o1JFeAxw=", "FJzAD/9HX+dwkNyb/QVbtEG+aX9N1Z0/XzkzxxfHY+w=",
        "5MyVhN0bErb8ghMyw1dTQT5XG26+c+P12A0/6YgEBS4=", "UchI2pauyCEbGCHZ3M0UXToARU7xyfBcNZhnYQSBNfY=",
        "JBZ2WWDqet06QNGnNzfVjgjWaxMe+eLMd8ZrrMZZ6P0=",
    ]
}
