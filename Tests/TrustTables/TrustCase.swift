package import FoundationEssentials
package import PintleTestKit

/// One case of the tests that Apple publishes with its trust code (Security 61901): the shape of a path, and the
/// verdicts on it. The certificates are minted here, with names and keys of their own.
package struct TrustCase: Sendable, CustomStringConvertible {
    /// The group and the number of the case: `names-7`.
    package var id = ""
    package let shape: String
    package let host: String
    /// The time of the evaluation.
    package let instant: Date
    /// The trust that the path has to end in.
    package let anchor: Anchor
    /// The pins of the app's Info.plist, by the name of the list.
    package let pins: [PinnedEntry]
    package let expected: Verdicts
    /// The row of the article on platform differences, if the two systems differ; otherwise empty.
    package let difference: String
    private let mint: @Sendable () throws -> Path

    package enum Anchor: Sendable {
        /// A certificate that the app gives: on Linux a rule's anchor.
        case app
        /// A root of the system.
        case system
    }

    /// The three columns. `accepted`; otherwise Pintle's code or the name of the system's status.
    package struct Verdicts: Sendable {
        /// The verdict that Apple's test demands.
        package let apple: String
        package let linux: String
        package let standIn: String

        static let accepted = Verdicts("accepted", "accepted", "accepted")

        init(_ apple: String, _ linux: String, _ standIn: String) {
            (self.apple, self.linux, self.standIn) = (apple, linux, standIn)
        }

        static func refused(_ linux: String, _ standIn: String) -> Verdicts { Verdicts("refused", linux, standIn) }
    }

    /// A minted path.
    package struct Path: Sendable {
        /// The certificates that the server presents, leaf first.
        package let chain: [[UInt8]]
        package let anchor: MintedCertificate
        /// The keys on the path, leaf first, to be pinned.
        package let keys: [[UInt8]]

        init(_ identity: Identity, to authority: CertificateAuthority) {
            chain = identity.chain
            anchor = authority.certificate
            keys = [identity.certificate.spkiDER] + identity.issuers.map(\.spkiDER)
        }

        /// A leaf that is its own anchor.
        init(own identity: Identity) {
            chain = [identity.certificate.der]
            anchor = identity.certificate
            keys = [identity.certificate.spkiDER]
        }
    }

    init(
        _ shape: String, host: String, at instant: Date, anchor: Anchor = .app, pins: [PinnedEntry] = [],
        _ expected: Verdicts, difference: String = "", mint: @escaping @Sendable () throws -> Path
    ) {
        (self.shape, self.host, self.instant, self.anchor) = (shape, host, instant, anchor)
        (self.pins, self.expected, self.difference, self.mint) = (pins, expected, difference, mint)
    }

    package func path() throws -> Path { try mint() }

    package var description: String { "\(id): \(shape)" }

    // MARK: The table

    package static let all =
        numbered("names", names) + numbered("addresses", addresses) + numbered("usages", usages)
        + numbered("constraints", constraints) + numbered("pins", pins)

    private static func numbered(_ group: String, _ cases: [TrustCase]) -> [TrustCase] {
        cases.enumerated().map { index, item in
            var item = item
            item.id = "\(group)-\(index + 1)"
            return item
        }
    }

    /// The table in Markdown.
    package static var table: String {
        let rows = all.map { item in
            [
                item.id, item.shape, "`\(item.host)`", item.expected.apple, item.expected.linux, item.expected.standIn,
                item.difference,
            ]
        }
        let head = ["Case", "Path", "Host", "Apple expects", "Linux", "Stand-in", "Platform differences"]
        return ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }
}

/// An entry of `NSPinnedDomains` for the host of a case, or for another name.
package struct PinnedEntry: Sendable {
    /// The name of the entry; `nil` for the host of the case.
    package var name: String?
    package var includesSubdomains = false
    /// The lists that the entry has, `NSPinnedLeafIdentities` and `NSPinnedCAIdentities`.
    package var lists: [(name: String, content: Content)] = []

    package enum Content: Sendable {
        /// Pins of the keys at these positions of the path; -1 is a key that is not on it.
        case positions([Int])
        /// A string in the place of the list.
        case text
        /// A list with a string in the place of each identity.
        case texts
    }

    /// The entry as a property list.
    ///
    /// - Parameter pin: Returns the Base64 text of a pin of a key.
    package func propertyList(for path: TrustCase.Path, host: String, pin: ([UInt8]) throws -> String) throws -> String
    {
        var text = "<key>\(name ?? host)</key><dict>"
        if includesSubdomains { text += "<key>NSIncludesSubdomains</key><true/>" }
        for list in lists {
            text += "<key>\(list.name)</key>"
            switch list.content {
            case .positions(let positions):
                let identities = try positions.map { position in
                    let key = position < 0 ? try PrivateKey().spkiDER : path.keys[position]
                    return "<dict><key>SPKI-SHA256-BASE64</key><string>\(try pin(key))</string></dict>"
                }
                text += "<array>" + identities.joined() + "</array>"
            case .text: text += "<string>\(try pin(path.keys[0]))</string>"
            case .texts: text += "<array><string>\(try pin(path.keys[0]))</string></array>"
            }
        }
        return text + "</dict>"
    }
}

extension TrustCase {
    /// The app's Info.plist for a minted path, with the pins of the case.
    package func infoPlist(_ path: Path, pin: ([UInt8]) throws -> String) throws -> String {
        let entries = try pins.map { try $0.propertyList(for: path, host: host, pin: pin) }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict><key>NSPinnedDomains</key>
            <dict>\(entries.joined())</dict></dict></dict></plist>
            """
    }
}
