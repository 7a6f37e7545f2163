internal import Pintle
package import PintlePolicyFile
internal import PintleText

/// The kind of a file, as far as its beginning and its outermost names tell. Commands that read another kind name it,
/// and the command that reads it.
package enum FileKind: Hashable {
    case policy, update, approvals, report, plan, families, results
    case androidConfiguration
    /// A property list, and whose pins are in it.
    case propertyList(PinnedBy?)
    case binaryPropertyList
    case keys
    case objectiveC, sourceCode
    /// Pins in a form that no command reads: of curl, Envoy or Chromium.
    case otherPins
    case webPage

    /// The reader of the pins in a property list, as `import` calls it.
    package enum PinnedBy: String {
        case ats, trustkit
    }

    /// Looks at a file; `nil` for a file of no known kind.
    package init?(of bytes: [UInt8]) {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        let start = bytes.firstIndex { !blanks.contains($0) } ?? bytes.endIndex
        switch bytes.dropFirst(start).first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard let kind = Self.document(bytes) else { return nil }
            self = kind
        case UInt8(ascii: "<"):
            guard let kind = Self.markup(bytes[start...]) else { return nil }
            self = kind
        case UInt8(ascii: "b") where bytes.starts(with: "bplist".utf8): self = .binaryPropertyList
        case nil: return nil
        default:
            // DER has control characters, text that begins with a zero has none.
            let isDER = bytes.first == 0x30 && bytes.contains { $0 < 0x09 }
            if isDER || PEMReader.looksLikePEM(bytes) || Self.isBareBase64(bytes) {
                self = .keys
            } else {
                guard let kind = Self.code(bytes) else { return nil }
                self = kind
            }
        }
    }

    /// Returns whether the bytes are nothing but the base64 of DER, such as a key without its first and last line.
    private static func isBareBase64(_ bytes: [UInt8]) -> Bool {
        let text = bytes.prefix(1 << 16).filter { $0 > 0x20 }
        return text.count >= 48 && text.first == UInt8(ascii: "M")
            && text.allSatisfy { byte in
                Unicode.Scalar(byte).properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
                    || "+/=".utf8.contains(byte)
            }
    }

    // MARK: JSON

    private static func document(_ bytes: [UInt8]) -> FileKind? {
        // Envoy's and Chromium's files may have comments, which JSON has not.
        if hasOtherPins(String(decoding: bytes.prefix(1 << 18), as: UTF8.self)) { return .otherPins }
        // Every result of an audit is a line of its own, which begins with the host and the port.
        if bytes.starts(with: "{\"host\":\"".utf8) {
            let line = String(decoding: bytes.prefix(512).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            if line.contains("\",\"port\":") { return .results }
        }
        let limits = JSONDocument.Limits(maximumBytes: 64 << 20, maximumDepth: 64, allowsAnyNumber: true)
        guard let root = (try? JSONDocument(bytes, limits: limits))?.root else { return nil }
        if isUpdate(root) { return .update }
        if isReport(root) { return .report }
        if root["approvals"] != nil { return .approvals }
        // A key of RFC 7517.
        if root["kty"] != nil { return .keys }
        if root["families"] != nil { return .families }
        if root["apps"] != nil || root["servers"] != nil { return .plan }
        return root["hosts"] != nil || root["unpinnedHosts"] != nil ? .policy : nil
    }

    /// Returns whether a document is the envelope of an update.
    package static func isUpdate(_ root: JSONValue) -> Bool {
        root["payload"] != nil && (root["payloadType"] != nil || root["signatures"] != nil)
    }

    /// Returns whether a document is a failure report, in any of its encodings, or one of a spool.
    private static func isReport(_ root: JSONValue) -> Bool {
        let chain: StaticString = "served-certificate-chain"
        if root[chain] != nil || root["report"]?[chain] != nil || root["resourceLogs"] != nil { return true }
        return root.elements?.contains { $0["type"]?.string == "certificate-issue" } ?? false
    }

    // MARK: XML

    private static func markup(_ bytes: ArraySlice<UInt8>) -> FileKind? {
        switch rootName(bytes) {
        case "network-security-config": return .androidConfiguration
        case "plist":
            let text = String(decoding: bytes.prefix(1 << 20), as: UTF8.self)
            if text.contains("TSKPinnedDomains") { return .propertyList(.trustkit) }
            return .propertyList(text.contains("NSPinnedDomains") ? .ats : nil)
        case let name?: return name.lowercased() == "html" ? .webPage : nil
        case nil: return nil
        }
    }

    /// Returns the name of the first element, behind declarations and comments.
    private static func rootName(_ bytes: ArraySlice<UInt8>) -> String? {
        var rest = bytes.prefix(1 << 16)
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(open + 1)...]
            switch rest.first {
            case UInt8(ascii: "?"), UInt8(ascii: "!"):
                if rest.dropFirst().prefix(7).elementsEqual("DOCTYPE".utf8),
                    String(decoding: rest.dropFirst(8).prefix(5), as: UTF8.self).lowercased().hasPrefix("html")
                {
                    return "html"
                }
                let end = rest.starts(with: "!--".utf8) ? Array("-->".utf8) : [UInt8(ascii: ">")]
                while !rest.isEmpty, !rest.starts(with: end) { rest = rest.dropFirst() }
            case nil: return nil
            default:
                return String(decoding: rest.prefix { isOfName($0) }, as: UTF8.self)
            }
        }
        return nil
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != UInt8(ascii: ">") && byte != UInt8(ascii: "/")
    }

    // MARK: Source code

    private static func code(_ bytes: [UInt8]) -> FileKind? {
        guard !bytes.prefix(1 << 12).contains(0) else { return nil }
        let text = String(decoding: bytes.prefix(1 << 18), as: UTF8.self)
        if hasOtherPins(text) { return .otherPins }
        if text.contains("@{"), text.contains("@\"") || text.contains("#import") { return .objectiveC }
        let signs = ["PinnedDomains", "CertificatePinner", "import Foundation", "\nimport ", "#import", "#include"]
        return text.hasPrefix("import ") || signs.contains(where: text.contains) ? .sourceCode : nil
    }

    private static func hasOtherPins(_ text: String) -> Bool {
        ["pinnedpubkey", "verify_certificate_spki", "static_spki_hashes"].contains(where: text.contains)
    }

    // MARK: Words

    /// The kind in words: `a signed update`
    package var name: String {
        switch self {
        case .policy: "a policy"
        case .update: "a signed update"
        case .approvals: "a file of approvals"
        case .report: "a failure report"
        case .plan: "a plan of rotations"
        case .families: "a file of authority families"
        case .results: "results of an audit"
        case .androidConfiguration: "Android's network security configuration"
        case .propertyList(.trustkit?): "a property list with TrustKit's configuration"
        case .propertyList(.ats?): "a property list with pins of App Transport Security"
        case .propertyList(nil): "a property list without pins"
        case .binaryPropertyList: "a binary property list"
        case .keys: "certificates or keys"
        case .objectiveC: "Objective-C"
        case .sourceCode: "source code"
        case .otherPins: "a command of curl, or a configuration of Envoy or Chromium"
        case .webPage: "a web page"
        }
    }

    /// The command that reads such a file.
    ///
    /// - Parameter path: the file, as the user gave it.
    package func remedy(for path: String) -> String {
        let file = ShellWord.quoted(path)
        return switch self {
        case .policy: "pintle lint \(file) examines it, and pintle export writes other formats"
        case .update: "pintle verify --trusted PUB --bundled POLICY \(file)"
        case .approvals: "pintle trust list --store \(file)"
        case .report: "pintle inspect \(file)"
        case .plan: "pintle plan \(file)"
        case .families: "pintle pin HOST --durable --families \(file)"
        case .results: "pintle report \(file)"
        case .androidConfiguration: "pintle import --from nsc \(file) makes a policy of it"
        case .propertyList(let reader?): "pintle import --from \(reader.rawValue) \(file) makes a policy of it"
        case .propertyList(nil): "give the app's Info.plist, with NSPinnedDomains or TSKConfiguration"
        case .binaryPropertyList: "convert it: plutil -convert xml1 \(file); then pintle import"
        case .keys: "pintle pin \(file) shows the pins"
        case .otherPins: "write its pins into a policy: \"pins\": [\"sha256/...\"]"
        case .objectiveC, .sourceCode:
            "code is not read: write the pins into a property list for pintle import --from trustkit, or into a policy"
        case .webPage: "give the file itself, not the page around it"
        }
    }

    /// Returns the error of a command that reads something else.
    ///
    /// - Parameter wanted: what the command reads: `a policy`
    package func refusal(of file: InputFile, code: String = "other-kind", wanted: String) -> ToolError {
        .unusable(code, "not \(wanted): the file is \(name)", file: file.name, hint: remedy(for: file.path))
    }
}
