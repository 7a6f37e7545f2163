import Testing

@testable import Pintle
@testable import PintlePolicyFile

/// Helpers for tests of policy files.
enum PolicyText {
    static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    static let backup = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="
    static let third = "sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI="
    static let fingerprint = "cc751c67698229d9277c61d1a6d811ad2af2c0959a0486f5d5f38ece3e4ae2cf"

    /// Returns a policy with these rules, each a JSON object.
    static func policy(_ rules: String..., top: String = "") -> String {
        "{\"version\": 1, \(top)\"hosts\": [\(rules.joined(separator: ",\n"))]}"
    }

    /// Returns a valid rule with these members added.
    static func rule(_ host: String = "example.com", _ more: String = "") -> String {
        let comma = more.isEmpty ? "" : ", "
        return "{\"host\": \"\(host)\", \"pins\": [\"\(pin)\"], \"backupPins\": [\"\(backup)\"]\(comma)\(more)}"
    }

    static func problems(
        _ text: String, files: (@Sendable (String) throws -> [UInt8])? = nil,
        isPublicSuffix: (String) -> Bool = { _ in false }
    ) -> [PolicyProblem] {
        do throws(PolicyError) {
            _ = try PinningPolicy(json: Array(text.utf8), resolvingFile: files, isPublicSuffix: isPublicSuffix)
            return []
        } catch {
            for problem in error.problems {
                #expect(problem.line != nil || problem.id == "more-problems")
            }
            return error.problems
        }
    }

    static func ids(_ text: String) -> [String] { problems(text).map(\.id) }
}

/// The smallest certificate that parses. Its signature is invalid.
enum MinimalCertificate {
    static func der(named name: String = "Test Root", until year: Int = 2046) -> [UInt8] {
        let algorithm = tlv(0x30, tlv(0x06, [0x2B, 0x65, 0x70]))
        let commonName = tlv(0x30, tlv(0x06, [0x55, 0x04, 0x03]) + tlv(0x0C, Array(name.utf8)))
        let subject = tlv(0x30, tlv(0x31, commonName))
        let validity = tlv(0x30, time(2020) + time(year))
        let key = tlv(0x30, algorithm + tlv(0x03, [0] + [UInt8](repeating: 7, count: 32)))
        let body = tlv(0xA0, tlv(0x02, [2])) + tlv(0x02, [1]) + algorithm + subject + validity + subject + key
        return tlv(0x30, tlv(0x30, body) + algorithm + tlv(0x03, [0] + [UInt8](repeating: 1, count: 64)))
    }

    static func pem(named name: String = "Test Root", until year: Int = 2046) -> String {
        PEMBlock.text(label: "CERTIFICATE", bytes: der(named: name, until: year))
    }

    private static func time(_ year: Int) -> [UInt8] { tlv(0x18, Array("\(year)0101000000Z".utf8)) }

    private static func tlv(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let low = UInt8(content.count & 0xFF)
        switch content.count {
        case 0..<128: return [tag, low] + content
        case 128..<256: return [tag, 0x81, low] + content
        default: return [tag, 0x82, UInt8(content.count >> 8), low] + content
        }
    }
}
