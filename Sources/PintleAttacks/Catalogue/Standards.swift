/// The entries of public lists that describe the fault of a client which an attack succeeds against.
///
/// OWASP's ids are those of its repositories, at these commits:
/// - MASVS: OWASP/masvs, c0db792d48206186874b8b10818e117226eb1d68.
/// - MASTG: OWASP/owasp-mastg, 10699fbe39806dbf47f8ab433f2b1eb64e38e35e.
/// - MASWE: OWASP/maswe, MASWE-0026 at 31777f22d71fcf3114b36e4994fe6cbee2fbb6a3, MASWE-0027 and MASWE-0028 at
///   f6e3d24173fbb6189a2203e54fe4fb71cf827a8d. Before, they were MASWE-0050, MASWE-0052 and MASWE-0047, and the MASTG
///   at the commit above calls them so.
///
/// No entry of OWASP's lists is about the group `hold`, so its attacks have none. Changes of a server that a client
/// must accept have no CWE entry.
package struct Standards: Sendable, Hashable {
    /// The entries of the Common Weakness Enumeration, version 4.9, the most specific first.
    package var cwe: [Entry] = []
    /// The control of the MASVS, the weakness of the MASWE, and the test of the MASTG that finds the same fault.
    package var owasp: [Entry] = []

    package init(cwe: [Entry] = [], owasp: [Entry] = []) { (self.cwe, self.owasp) = (cwe, owasp) }

    /// The entries of all lists.
    package var entries: [Entry] { cwe + owasp }

    /// A public list.
    package enum List: String, Sendable, Hashable, CaseIterable {
        case cwe = "CWE"
        case masvs = "OWASP MASVS"
        case maswe = "OWASP MASWE"
        case mastg = "OWASP MASTG"

        /// The name of the list in full.
        package var title: String {
            switch self {
            case .cwe: "Common Weakness Enumeration"
            case .masvs: "Mobile Application Security Verification Standard"
            case .maswe: "Mobile Application Security Weakness Enumeration"
            case .mastg: "Mobile Application Security Testing Guide"
            }
        }

        package var organization: String { self == .cwe ? "MITRE" : "OWASP" }

        /// The version, or the commit of the list's repository. The MASWE's is that of its latest entry here.
        package var version: String {
            switch self {
            case .cwe: "4.9"
            case .masvs: "c0db792d48206186874b8b10818e117226eb1d68"
            case .maswe: "f6e3d24173fbb6189a2203e54fe4fb71cf827a8d"
            case .mastg: "10699fbe39806dbf47f8ab433f2b1eb64e38e35e"
            }
        }
    }

    /// An entry of a list.
    package struct Entry: Sendable, Hashable {
        package let list: List
        /// The id as the list writes it, such as `CWE-295`.
        package let id: String
        package let title: String

        init(_ list: List, _ id: String, _ title: String) {
            (self.list, self.id, self.title) = (list, id, title)
        }
    }
}

extension Scenario {
    /// The entries of public lists for this attack; none for the control.
    package var standards: Standards {
        switch id {
        case "untrusted-ca", "self-signed", "pinned-key-untrusted-ca", "leaf-as-ca", "path-length-exceeded",
            "name-constraints-violated":
            .validation(.cwe296, .cwe295)
        case "no-server-purpose", "unknown-critical-extension", "explicit-ec-parameters", "garbage-der":
            .validation(.cwe295)
        case "expired", "not-yet-valid": .validation(.cwe298, .cwe295)
        case "weak-key": .validation(.cwe326, .cwe295)
        case "sha1-signature": .validation(.cwe328, .cwe295)
        case "wrong-host", "other-hosts-certificate", "cn-only":
            .init(cwe: [.cwe297, .cwe295], owasp: [.network1, .maswe0027, .test0283])
        case "pin-appended-to-foreign-path", "pinned-intermediate-off-path":
            .init(cwe: [.cwe296, .cwe295], owasp: [.network2, .maswe0028, .test0244])
        case "trusted-interceptor", "copied-certificate", "ten-year-leaf", "rotated-to-unknown-key",
            "interceptor-asks-for-identity":
            .init(cwe: [.cwe295], owasp: [.network2, .maswe0028, .test0244])
        case "renewed-same-key", "rotated-to-backup-key", "cross-signed": .init(owasp: [.network2, .maswe0028])
        case "tls-1.0", "tls-1.1": .init(cwe: [.cwe757, .cwe327], owasp: [.network1, .maswe0026, .test0218])
        case "redirect-to-http": .init(cwe: [.cwe319], owasp: [.network1, .maswe0026, .test0236])
        case "redirect-to-unpinned-host": .init(cwe: [.cwe923], owasp: [.network2, .maswe0028])
        case "coalesced-connection": .init(cwe: [.cwe923, .cwe295], owasp: [.network2, .maswe0028, .test0244])
        case "refused-stream-moves-request", "goaway-moves-request":
            .init(cwe: [.cwe295], owasp: [.network2, .maswe0028, .test0244])
        case "retry-after-401": .init(cwe: [.cwe295, .cwe522], owasp: [.network2, .maswe0028, .test0244])
        case "stall-mid-handshake", "stacked-encodings": .init(cwe: [.cwe1088])
        case "oversized-chain": .init(cwe: [.cwe770])
        case "name-constraint-bomb": .init(cwe: [.cwe407])
        default: .init()
        }
    }
}

extension Standards {
    /// Returns the entries for a fault in the validation of a path.
    static func validation(_ weaknesses: Entry...) -> Standards {
        Standards(cwe: weaknesses, owasp: [.network1, .maswe0027, .test0282])
    }
}

extension Standards.Entry {
    static let cwe295 = Self(.cwe, "CWE-295", "Improper Certificate Validation")
    static let cwe296 = Self(.cwe, "CWE-296", "Improper Following of a Certificate's Chain of Trust")
    static let cwe297 = Self(.cwe, "CWE-297", "Improper Validation of Certificate with Host Mismatch")
    static let cwe298 = Self(.cwe, "CWE-298", "Improper Validation of Certificate Expiration")
    static let cwe319 = Self(.cwe, "CWE-319", "Cleartext Transmission of Sensitive Information")
    static let cwe326 = Self(.cwe, "CWE-326", "Inadequate Encryption Strength")
    static let cwe327 = Self(.cwe, "CWE-327", "Use of a Broken or Risky Cryptographic Algorithm")
    static let cwe328 = Self(.cwe, "CWE-328", "Use of Weak Hash")
    static let cwe407 = Self(.cwe, "CWE-407", "Inefficient Algorithmic Complexity")
    static let cwe522 = Self(.cwe, "CWE-522", "Insufficiently Protected Credentials")
    static let cwe757 = Self(
        .cwe, "CWE-757", "Selection of Less-Secure Algorithm During Negotiation ('Algorithm Downgrade')")
    static let cwe770 = Self(.cwe, "CWE-770", "Allocation of Resources Without Limits or Throttling")
    static let cwe923 = Self(
        .cwe, "CWE-923", "Improper Restriction of Communication Channel to Intended Endpoints")
    static let cwe1088 = Self(.cwe, "CWE-1088", "Synchronous Access of Remote Resource without Timeout")

    static let network1 = Self(
        .masvs, "MASVS-NETWORK-1", "The app secures all network traffic according to the current best practices.")
    static let network2 = Self(
        .masvs, "MASVS-NETWORK-2",
        "The app performs identity pinning for all remote endpoints under the developer's control.")

    static let maswe0026 = Self(.maswe, "MASWE-0026", "Network Traffic Not Encrypted")
    static let maswe0027 = Self(.maswe, "MASWE-0027", "Insecure Certificate Validation")
    static let maswe0028 = Self(.maswe, "MASWE-0028", "Insecure Identity Pinning")

    static let test0218 = Self(.mastg, "MASTG-TEST-0218", "Insecure TLS Protocols in Network Traffic")
    static let test0236 = Self(.mastg, "MASTG-TEST-0236", "Cleartext Traffic Observed on the Network")
    static let test0244 = Self(
        .mastg, "MASTG-TEST-0244", "Missing Certificate Pinning in Network Traffic")
    static let test0282 = Self(.mastg, "MASTG-TEST-0282", "Unsafe Custom Trust Evaluation")
    static let test0283 = Self(
        .mastg, "MASTG-TEST-0283", "Incorrect Implementation of Server Hostname Verification")
}
