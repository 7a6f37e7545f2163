import Testing

@testable import PintleTestKit

@Suite("HPACK")
struct HPACKTests {
    /// Returns the bytes of hexadecimal digits, whatever stands between them.
    static func bytes(_ hex: String) -> [UInt8] {
        var digits = hex.compactMap(\.hexDigitValue)[...]
        var bytes: [UInt8] = []
        while let high = digits.popFirst(), let low = digits.popFirst() { bytes.append(UInt8(high << 4 | low)) }
        return bytes
    }

    static func text(_ fields: [HPACKField]) -> [String] {
        fields.map { String(decoding: $0.name, as: UTF8.self) + ": " + String(decoding: $0.value, as: UTF8.self) }
    }

    struct Vector: CustomTestStringConvertible {
        let section: String
        var tableLimit = 4_096
        /// Each block with its fields and the table's size afterwards.
        let blocks: [(hex: String, fields: [String], size: Int)]

        var testDescription: String { section }
    }

    private static let requests = [
        [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"],
        [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com", "cache-control: no-cache"],
        [
            ":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com",
            "custom-key: custom-value",
        ],
    ]
    private static let ends = [
        "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com",
    ]
    private static let responses = [
        [":status: 302"] + ends, [":status: 307"] + ends,
        [
            ":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT",
            "location: https://www.example.com", "content-encoding: gzip",
            "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
        ],
    ]

    static let vectors = [
        Vector(
            section: "C.2.1",
            blocks: [
                (
                    "400a6375 73746f6d 2d6b6579 0d637573 746f6d2d 68656164 6572", ["custom-key: custom-header"], 55
                )
            ]),
        Vector(section: "C.2.2", blocks: [("040c2f73 616d706c 652f7061 7468", [":path: /sample/path"], 0)]),
        Vector(section: "C.2.3", blocks: [("10087061 7373776f 72640673 65637265 74", ["password: secret"], 0)]),
        Vector(section: "C.2.4", blocks: [("82", [":method: GET"], 0)]),
        Vector(
            section: "C.3",
            blocks: [
                ("82868441 0f777777 2e657861 6d706c65 2e636f6d", requests[0], 57),
                ("828684be 58086e6f 2d636163 6865", requests[1], 110),
                ("828785bf 400a6375 73746f6d 2d6b6579 0c637573 746f6d2d 76616c75 65", requests[2], 164),
            ]),
        Vector(
            section: "C.4",
            blocks: [
                ("82868441 8cf1e3c2 e5f23a6b a0ab90f4 ff", requests[0], 57),
                ("828684be 5886a8eb 10649cbf", requests[1], 110),
                ("828785bf 408825a8 49e95ba9 7d7f8925 a849e95b b8e8b4bf", requests[2], 164),
            ]),
        Vector(
            section: "C.5", tableLimit: 256,
            blocks: [
                (
                    """
                    48033330 32580770 72697661 7465611d 4d6f6e2c 20323120 4f637420 32303133 2032303a 31333a32 3120474d
                    546e1768 74747073 3a2f2f77 77772e65 78616d70 6c652e63 6f6d
                    """, responses[0], 222
                ),
                ("48033330 37c1c0bf", responses[1], 222),
                (
                    """
                    88c1611d 4d6f6e2c 20323120 4f637420 32303133 2032303a 31333a32 3220474d 54c05a04 677a6970 7738666f
                    6f3d4153 444a4b48 514b425a 584f5157 454f5049 55415851 57454f49 553b206d 61782d61 67653d33 3630303b
                    20766572 73696f6e 3d31
                    """, responses[2], 215
                ),
            ]),
        Vector(
            section: "C.6", tableLimit: 256,
            blocks: [
                (
                    """
                    48826402 5885aec3 771a4b61 96d07abe 941054d4 44a82005 95040b81 66e082a6 2d1bff6e 919d29ad 171863c7
                    8f0b97c8 e9ae82ae 43d3
                    """, responses[0], 222
                ),
                ("4883640e ffc1c0bf", responses[1], 222),
                (
                    """
                    88c16196 d07abe94 1054d444 a8200595 040b8166 e084a62d 1bffc05a 839bd9ab 77ad94e7 821dd7f2 e6c7b335
                    dfdfcd5b 3960d5af 27087f36 72c1ab27 0fb5291f 95873160 65c003ed 4ee5b106 3d5007
                    """, responses[2], 215
                ),
            ]),
    ]

    @Test("The decoder reads the examples of RFC 7541 appendix C", arguments: vectors)
    func examples(_ vector: Vector) throws {
        var decoder = HPACKDecoder(tableLimit: vector.tableLimit, listLimit: 65_536)
        for block in vector.blocks {
            #expect(Self.text(try decoder.fields(of: Self.bytes(block.hex))) == block.fields)
            #expect(decoder.table.size == block.size)
        }
    }

    @Test("The integers of RFC 7541 appendix C.1 have their values", arguments: [("0a", 5, 10), ("1f9a0a", 5, 1_337)])
    func integers(hex: String, prefix: Int, value: Int) throws {
        var input = Self.bytes(hex)[...]
        #expect(try HPACKDecoder.integer(&input, prefix: prefix) == value)
        #expect(input.isEmpty)
    }

    @Test("Every octet survives a string in the Huffman code and a literal")
    func everyOctet() throws {
        // Python's hpack made this block of one field: x, with the octets 0 to 255 in the Huffman code.
        var decoder = HPACKDecoder(listLimit: 65_536)
        let octets = (0...255).map { UInt8($0) }
        #expect(try decoder.fields(of: Self.bytes(Self.allOctets)) == [HPACKField(Array("x".utf8), octets)])
        let literal = HPACKEncoder.block([HPACKField(Array("x".utf8), octets)])
        #expect(try decoder.fields(of: literal) == [HPACKField(Array("x".utf8), octets)])
    }

    private static let allOctets = """
        000178ff c803ffc7 fffd8fff ffe2ffff fe3fffff e4fffffe 5fffffe6 fffffe7f ffffe8ff ffeaffff fff3ffff fa7fffff
        abffffff dfffffeb fffffecf ffffedff fffeefff ffefffff ff0fffff f1ffffff 2fffffff bfffffcf fffffd3f ffffd7ff
        fffdbfff ffdfffff fe3fffff e7fffffe bfffffed 4fe3f9ff affcabf1 febfafef e7fdfd2c bb000899 69b71d79 fb9f7fff
        20ffbff3 ff50ddbd 7f061c58 f265cd9f 469d5af6 6dddbf87 1e5f9cff 7ff7fffc 3ff9ffe4 5fff4719 242cb34e 6e9d68a6
        a3d7dac4 26defe3c faf7fffb fe7ffbff dffffffc fffe6fff f4bfff9f fffa3fff d3ffff53 fffd5fff fb3fffeb 7fffdaff
        ffb7ffff 73fffeef fffdefff febffffb fffffd9f fffdbfff ebffffe0 ffffeeff ffc3ffff 8bffff1f fffe4fff ee7fffb1
        ffff97ff fd9ffffc dffff9ff fffbffff dafffeef fff4ffff b7fffee7 fffe8fff fd3fffde ffffd5ff feeffffb dffffe1f
        ffdfffff 7fffff5f fffecfff f07fff87 fffe0fff f17fffed ffff87ff ff77fffe ffffeaff ff8bfffe 3ffff93f fff87fff
        cbffff37 ffff1fff ff83ffff e1fffebf ffe3ffff 3fffff2f fffa3fff fd9fffff 17ffffc7 fffff27f fffdefff ffbfffff
        f2fffff8 fffffb7f ff97fff8 fffffe6f ffffc1ff fff87fff fe7fffff c5ffffe5 fffe4fff f2fffffd 1fffff4f fffffeff
        fffe3fff ffc9ffff f97fffb3 ffffcfff fb7fffcd ffff4fff f9ffffd1 ffffcfff feaffffa fffffddf fffeffff ff4fffff
        5fffffab ffffa7ff ffd7ffff f9bffffe cfffffb7 fffff3ff fffe8fff ffd3ffff fabfffff 5fffffff 7ffffecf ffffdbff
        fffbbfff ff7fffff f0fffffb bf
        """

    @Test("What the encoder writes is read back: static entries, known and unknown names, long values")
    func encoder() throws {
        let fields = [
            HPACKField(":status", "200"), HPACKField(":status", "421"), HPACKField("content-length", "3"),
            HPACKField("x-unknown", String(repeating: "y", count: 20_000)), HPACKField("empty", ""),
        ]
        let block = HPACKEncoder.emptyTable + HPACKEncoder.block(fields)
        var decoder = HPACKDecoder(listLimit: 65_536)
        #expect(try decoder.fields(of: block) == fields)
        #expect(decoder.table.maximumSize == 0 && decoder.table.entries.isEmpty)
    }

    @Test(
        "A malformed block is a compression error",
        arguments: [
            "80", "be", "ff8080808001", "ff80808080", "ff", "7f", "0005aa", "00", "4001", "82203f", "3fe21f",
            // EOS, eleven bits of padding, and padding with zeros.
            "0084ffffffff00", "008207ff00", "00810000",
        ])
    func malformed(hex: String) throws {
        var decoder = HPACKDecoder(listLimit: 65_536)
        #expect {
            try decoder.fields(of: Self.bytes(hex))
        } throws: { error in
            (error as? HTTP2Error)?.code == .compressionError
        }
    }

    @Test("Blocks beside the limits are read", arguments: [("203fe11f82", ":method: GET"), ("00810700", "0: ")])
    func accepted(hex: String, field: String) throws {
        var decoder = HPACKDecoder(listLimit: 65_536)
        #expect(Self.text(try decoder.fields(of: Self.bytes(hex))) == [field])
    }

    @Test("A short block that repeats a long field is refused at the limit of the list")
    func bomb() throws {
        let long = HPACKField("x", String(repeating: "y", count: 4_000))
        let first: [UInt8] = [0x40, 1, 0x78, 0x7F, 0xA1, 0x1E] + long.value
        for (count, isRefused) in [(15, false), (16, true)] {
            var decoder = HPACKDecoder(listLimit: 65_536)
            let block = first + [UInt8](repeating: 0xBE, count: count)
            if isRefused {
                #expect {
                    try decoder.fields(of: block)
                } throws: { error in
                    (error as? HTTP2Error)?.code == .enhanceYourCalm
                }
            } else {
                #expect(try decoder.fields(of: block).count == 1 + count)
            }
        }
    }
}
