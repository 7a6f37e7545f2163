import Testing

@testable import Pintle

@Suite("IP addresses")
struct IPAddressTests {
    @Test(
        "An IPv6 address is printed as RFC 5952 requires, and every spelling parses",
        arguments: [
            (
                "2001:db8::1",
                ["2001:db8:0:0:0:0:0:1", "2001:0db8::0001", "2001:DB8::1", "2001:db8:0::1", "2001:db8::0:1"]
            ),
            ("2001:db8::2:1", ["2001:db8:0:0:0:0:2:1", "2001:db8::0:2:1"]),
            // Section 4.2.2: a single group of zeros is not shortened.
            ("2001:db8:0:1:1:1:1:1", ["2001:db8::1:1:1:1:1"]),
            // Section 4.2.3: the longest run is shortened, or the first of two equal ones.
            ("2001:0:0:1::1", ["2001:0:0:1:0:0:0:1"]), ("2001:db8::1:0:0:1", ["2001:db8:0:0:1:0:0:1"]),
            ("::", ["0:0:0:0:0:0:0:0", "0::", "::0"]), ("::1", ["0:0:0:0:0:0:0:1", "0::1"]),
            ("1::", ["1:0:0:0:0:0:0:0", "1::0"]), ("1:2:3:4:5:6:7:8", ["0001:2:3:4:5:6:7:0008"]),
            ("1:2:3:4:5:6::", ["1:2:3:4:5:6:0:0"]), ("::3:4:5:6:7:8", ["0:0:3:4:5:6:7:8"]),
            ("1:2:3:4:5:6:7:0", ["1:2:3:4:5:6:7::"]), ("0:2:3:4:5:6:7:8", ["::2:3:4:5:6:7:8"]),
            ("::ffff:192.0.2.1", ["::ffff:c000:201", "0:0:0:0:0:ffff:192.0.2.1", "::FFFF:C000:0201"]),
            ("::102:304", ["::1.2.3.4"]), ("64:ff9b::c000:221", ["64:ff9b::192.0.2.33"]),
            ("abcd:ef01:2345:6789:abcd:ef01:2345:6789", ["ABCD:EF01:2345:6789:ABCD:EF01:2345:6789"]),
        ] as [(String, [String])])
    func ipv6(_ canonical: String, _ spellings: [String]) throws {
        let address = try #require(IPAddress(canonical))
        #expect(address.isIPv6)
        #expect(address.description == canonical)
        for spelling in spellings { #expect(IPAddress(spelling) == address, "\(spelling)") }
    }

    @Test(
        "An invalid IPv6 address does not parse",
        arguments: [
            ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1::2::3",
            "12345::", "::g", ":1::", "1::2:", "::1.2.3", "::1.2.3.4.5", "::256.1.1.1", "::01.2.3.4", "1.2.3.4::",
            "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "1:2:3:4:5:6:1.2.3.4:8", "fe80::1%1", "[::1]", " ::1", "::1 ",
            "::ffff:0x7f.1", "::-1", "::+1", "", "٠::1",
        ])
    func wrongIPv6(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("An IPv4 address is four decimal numbers up to 255 without leading zeros")
    func ipv4() {
        for text in ["0.0.0.0", "255.255.255.255", "192.0.2.1", "10.0.0.10"] {
            #expect(IPAddress(text)?.description == text)
        }
        for text in [
            "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.999", "00.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.", ".1.2.3",
            "1..2.3", "+1.2.3.4", "1.2.3.a", "0x1.2.3.4", "1.2.3.1000", "１.2.3.4", "1.2.3.4\0",
        ] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
    }

    @Test("An address for which the system connects to another one is an alias, and its neighbours are not")
    func aliases() throws {
        for text in ["0.0.0.0", "::", "::0.0.0.0", "::ffff:127.0.0.1", "::FFFF:7f00:1", "[::ffff:0.0.0.0]"] {
            #expect(AddressAlias(try ServerName(text)) != nil, "\(text)")
        }
        for text in ["127.0.0.1", "::1", "0.0.0.1", "::2", "::fffe:7f00:1", "::ffff:0:7f00:1", "localhost"] {
            #expect(AddressAlias(try ServerName(text)) == nil, "\(text)")
        }
    }

    @Test("A text that is too long is refused, not cut off")
    func length() {
        let padding = String(repeating: "0", count: 60)
        for text in ["1.2.3.4" + padding, "::1" + padding, "1:2:3:4:5:6:7:8" + padding, padding] {
            #expect(IPAddress(text) == nil)
        }
        #expect(IPAddress("0000:0000:0000:0000:0000:ffff:255.255.255.255")?.octets.suffix(4) == [255, 255, 255, 255])
    }

    @Test("Any sixteen octets survive printing and parsing", arguments: 0..<4)
    func roundTrip(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        for _ in 0..<500 {
            let octets = (0..<8).flatMap { _ -> [UInt8] in
                Bool.random(using: &generator) ? [0, 0] : [0, UInt8.random(in: 0...255, using: &generator)]
            }
            let address = IPAddress(octets: octets)
            #expect(address?.octets == octets)
            #expect(address.flatMap { IPAddress($0.description) } == address)
        }
        #expect(IPAddress(octets: [1, 2, 3]) == nil)
    }
}
