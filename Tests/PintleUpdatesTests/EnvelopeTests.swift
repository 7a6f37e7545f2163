import FoundationEssentials
import Pintle
import PintleCrypto
import Testing

@testable import PintleUpdates

@Suite("Signed envelopes")
struct EnvelopeTests {
    let app: ShippedApp

    init() throws {
        app = try ShippedApp()
    }

    @Test("The pre-authentication encoding is that of DSSE")
    func preAuthenticationEncoding() {
        // The example in the DSSE specification.
        let envelope = SignedEnvelope(payloadType: "http://example.com/HelloWorld", payload: Array("hello world".utf8))
        let expected = "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        #expect(String(decoding: envelope.signedBytes, as: UTF8.self) == expected)
        // The lengths count bytes, not characters.
        let other = SignedEnvelope(payloadType: "é", payload: [0xFF])
        #expect(other.signedBytes == Array("DSSEv1 2 é 1 ".utf8) + [0xFF])
    }

    private func envelope(
        payload: String? = nil, type: String = "\"application/vnd.pintle.policy+json\"", signature: String? = nil,
        more: String = "", moreInSignature: String = ""
    ) throws -> [UInt8] {
        var signed = SignedEnvelope(payload: Publication().payload)
        signed.signatures = [try app.one.signature(over: signed)]
        let base64 = Base64.encode(signed.signatures[0].bytes)
        return Array(
            """
            {"payload": \(payload ?? "\"\(Base64.encode(signed.payload))\""), "payloadType": \(type), "signatures": [
            {"keyid": "x", "sig": \(signature ?? "\"\(base64)\"")\(moreInSignature)}]\(more)}
            """.utf8)
    }

    @Test("Unknown members are ignored anywhere in an envelope")
    func unknownMembers() throws {
        #expect(try app.code(envelope()) == nil)
        #expect(
            try app.code(envelope(more: ", \"x\": [1.5, {\"y\": null}]", moreInSignature: ", \"cert\": \"...\"")) == nil
        )
    }

    @Test("An envelope of very many values is refused before they take memory", arguments: [9_000, 10_000])
    func manyValues(count: Int) throws {
        let list = ", \"x\": [" + [String](repeating: "1", count: count).joined(separator: ",") + "]"
        #expect(try app.code(envelope(more: list)) == (count == 10_000 ? .malformedEnvelope : nil))
    }

    @Test("Both base64 alphabets are accepted, padded or not; other text is refused")
    func base64() throws {
        for urlSafe in [false, true] {
            for padded in [false, true] {
                let text = Base64.encode(
                    Publication().payload, alphabet: urlSafe ? .urlSafe : .standard, padded: padded)
                #expect(try app.code(envelope(payload: "\"\(text)\"")) == nil)
            }
        }
        let text = Base64.encode(Publication().payload)
        for broken in ["\(text) ", " \(text)", text.dropLast(2) + "\\n" + text.suffix(2), "\(text)=", "*", "A"] {
            #expect(try app.code(envelope(payload: "\"\(broken)\"")) == .malformedEnvelope)
        }
        #expect(try app.code(envelope(signature: "\"*\"")) == .malformedEnvelope)
        #expect(try app.code(envelope(signature: "\"\"")) == .invalidSignature)
        #expect(try app.code(envelope(payload: "\"\"")) == .invalidSignature)
    }

    @Test(
        "A malformed envelope is refused before any signature is tried",
        arguments: [
            "", "{", "[]", "null", "7", "\"x\"", "{}", "<html>", "\u{FEFF}{}",
            #"{"payload": "", "payloadType": "x"}"#, #"{"payload": "", "signatures": []}"#,
            #"{"payloadType": "x", "signatures": []}"#, #"{"payload": 1, "payloadType": "x", "signatures": []}"#,
            #"{"payload": "", "payloadType": null, "signatures": []}"#,
            #"{"payload": "", "payloadType": "x", "signatures": {}}"#,
            #"{"payload": "", "payloadType": "x", "signatures": [1]}"#,
            #"{"payload": "", "payloadType": "x", "signatures": [{}]}"#,
            #"{"payload": "", "payloadType": "x", "signatures": [{"keyid": 1, "sig": ""}]}"#,
            #"{"payload": "", "payload": "", "payloadType": "x", "signatures": []}"#,
            #"{"payload": "", "payloadType": "x", "signatures": []} {}"#,
            #"{"payload": "", "payloadType": "x", "signatures": [], "x": [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]}"#,
        ])
    func malformed(_ text: String) throws {
        #expect(try app.code(Array(text.utf8)) == .malformedEnvelope)
    }

    @Test("An envelope without signatures has an invalid signature")
    func noSignature() throws {
        let empty = Array(#"{"payload": "", "payloadType": "x", "signatures": []}"#.utf8)
        #expect(try app.code(empty) == .invalidSignature)
    }

    @Test("Up to 16 signatures are tried, and the last one counts like the first")
    func tooManySignatures() throws {
        var envelope = SignedEnvelope(payload: Publication().payload)
        let bogus = SignedEnvelope.Signature(keyID: app.one.key.id, bytes: [UInt8](repeating: 7, count: 64))
        envelope.signatures = [SignedEnvelope.Signature](repeating: bogus, count: 15)
        envelope.signatures.append(try app.two.signature(over: envelope))
        #expect(try app.code(envelope.json) == nil)
        envelope.signatures.insert(bogus, at: 0)
        #expect(try app.code(envelope.json) == .malformedEnvelope)
    }

    @Test("When hashing is limited, signatures are tried first with the keys that they name")
    func hashingLimit() throws {
        var envelope = SignedEnvelope(payload: Publication().payload)
        func signed(naming keyID: String, at place: Int) throws -> [UInt8] {
            let bogus = (0..<15).map { SignedEnvelope.Signature(keyID: "", bytes: [UInt8](repeating: $0, count: 64)) }
            envelope.signatures = bogus
            envelope.signatures.insert(try app.two.signature(over: envelope, keyID: keyID), at: place)
            return envelope.json
        }
        func code(_ bytes: [UInt8], tries: Int) -> UpdateError.Code? {
            do {
                var verifier = try app.verifier
                verifier.maximumHashedBytes = envelope.signedBytes.count * tries
                _ = try verifier.verify(bytes, floor: nil, at: Publication.now)
                return nil
            } catch let error as UpdateError {
                return error.code
            } catch {
                return .malformedEnvelope
            }
        }
        let (one, two) = (app.one.key.id, app.two.key.id)
        // 16 signatures and two keys need 32 tries. With these the key ids have no effect.
        for keyID in ["", one, two] {
            for place in [0, 15] { #expect(code(try signed(naming: keyID, at: place), tries: 32) == nil) }
        }
        // One try is enough for a signature that names its key, at any position.
        for place in [0, 15] { #expect(code(try signed(naming: two, at: place), tries: 1) == nil) }
        #expect(code(try signed(naming: two, at: 0), tries: 0) == .invalidSignature)
        // Counter-check: the signature names no key, or another one.
        for keyID in ["", one] { #expect(code(try signed(naming: keyID, at: 15), tries: 16) == .invalidSignature) }
        #expect(code(try signed(naming: "", at: 0), tries: 2) == nil)
        #expect(code(try signed(naming: "", at: 0), tries: 1) == .invalidSignature)
    }

    @Test("With limited hashing, a key still counts once and the signers keep the order of the keys")
    func hashingLimitSigners() throws {
        var envelope = SignedEnvelope(payload: Publication().payload)
        let one = try app.one.signature(over: envelope)
        let two = try app.two.signature(over: envelope)
        let trust = try UpdateTrust(keys: [app.one.key, app.two.key], threshold: 2)
        func signers(_ signatures: [SignedEnvelope.Signature], tries: Int) -> [UpdateKey] {
            envelope.signatures = signatures
            return envelope.signers(trustedBy: trust, hashing: envelope.signedBytes.count * tries)
        }
        for tries in [3, 8] {
            #expect(signers([two, one, two], tries: tries) == [app.one.key, app.two.key])
            #expect(signers([one, one, one], tries: tries) == [app.one.key])
        }
        // Signatures of other algorithms use up no try.
        let other = SignedEnvelope.Signature(keyID: nil, bytes: [UInt8](repeating: 1, count: 71))
        #expect(signers([other, other, other, one, two], tries: 2) == [app.one.key, app.two.key])
    }

    @Test("A repeated signature is tried once with each key, whatever key ids stand beside it")
    func repeatedSignatures() throws {
        var envelope = SignedEnvelope(payload: Publication().payload)
        let (one, two) = (app.one.key, app.two.key)
        let trust = try UpdateTrust(keys: [one, two])
        let bogus = { SignedEnvelope.Signature(keyID: $0, bytes: [UInt8](repeating: $1, count: 64)) }
        let good = try app.two.signature(over: envelope, keyID: "")
        func signers(_ signatures: [SignedEnvelope.Signature], tries: Int) -> [UpdateKey] {
            envelope.signatures = signatures
            return envelope.signers(trustedBy: trust, hashing: envelope.signedBytes.count * tries)
        }
        for ids in [["", "", "", ""], [one.id, two.id, one.id, nil], [nil, two.id, nil, two.id]] {
            // Two tries for the bogus signature, and two for the good one.
            let repeated = ids.map { bogus($0, 1) } + [good]
            #expect(signers(repeated, tries: 4) == [two])
            #expect(signers(repeated, tries: 3) == [])
        }
        // Counter-check: four different signatures need eight tries.
        let different = (1...4).map { bogus("", $0) } + [good]
        #expect(signers(different, tries: 9) == [])
        #expect(signers(different, tries: 10) == [two])
        // A good signature counts for the key that any of its repetitions names, before others are tried.
        let named = SignedEnvelope.Signature(keyID: two.id, bytes: good.bytes)
        #expect(signers([bogus("", 1), good, named], tries: 1) == [two])
        #expect(signers([bogus("", 1), good], tries: 1) == [])
    }

    @Test("The payload and the signed bytes of a parsed envelope are those that were signed, at every length")
    func signedBytes() throws {
        for length in [0, 1, 2, 3, 9, 10, 99, 100, 101, 1_000] {
            let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let made = SignedEnvelope(payloadType: "t/\u{E9}", payload: payload)
            let head = Array("DSSEv1 4 t/\u{E9} \(length) ".utf8)
            #expect(made.signedBytes == head + payload)
            for (alphabet, padded) in [(Base64.Alphabet.standard, true), (.urlSafe, false)] {
                let text = Base64.encode(payload, alphabet: alphabet, padded: padded)
                let file = #"{"payload": "\#(text)", "payloadType": "t/\u00E9", "signatures": []}"#
                let read = try SignedEnvelope(Array(file.utf8))
                #expect(read.signedBytes == head + payload && read.payload == payload)
                #expect(read.payloadDigest == SHA256Digest(hashing: payload))
            }
        }
    }

    // MARK: Appending signatures

    @Test("Appending signatures keeps the members, their order and the white space of the file")
    func appending() throws {
        let bare = SignedEnvelope(payload: Publication().payload)
        let signatures = [try app.one.signature(over: bare), try app.two.signature(over: bare)]
        let url = Base64.encode(bare.payload, alphabet: .urlSafe, padded: false)
        let first = "{\"sig\": \"\(Base64.encode(signatures[0].bytes))\", \"cert\": [1.50, {}] }"
        for (list, count) in [
            ("[]", 2), ("[ \n]", 2), ("[\(first)]", 3), ("[ \(first)\t]", 3), ("[\(first), \(first)]", 4),
        ] {
            let (head, tail) = (
                "{ \"note\":\"\\u0041\", \"signatures\" : \(list.dropLast())", "], \"payload\":\"\(url)\","
            )
            let end = "\"payloadType\":\"\(bare.payloadType)\", \"z\":-0.0e1}"
            let file = Array((head + tail + end).utf8)
            let longer = try SignedEnvelope.appending(signatures, to: file)
            let read = try SignedEnvelope(longer)
            #expect(read.payload == bare.payload && read.signatures.count == count)
            #expect(read.signatures.suffix(2).map(\.bytes) == signatures.map(\.bytes))
            #expect(read.signatures.suffix(2).map(\.keyID) == signatures.map(\.keyID))
            #expect(try SignedEnvelope.appending([], to: file) == file)
            // The original bytes are unchanged and in order.
            let text = String(decoding: longer, as: UTF8.self)
            let blanks = list.dropLast().reversed().prefix { " \n\t".contains($0) }.count
            #expect(text.hasPrefix(head.dropLast(blanks)) && text.hasSuffix(tail + end))
            #expect(try app.code(longer) == nil)
        }
        // Appending to our own file gives the same bytes as writing it with all signatures.
        var ours = bare
        ours.signatures = [signatures[0]]
        let longer = try SignedEnvelope.appending([signatures[1]], to: ours.json)
        ours.signatures = signatures
        #expect(longer == ours.json)
        #expect(throws: UpdateError.Reason.self) { try SignedEnvelope.appending(signatures, to: Array("{}".utf8)) }
    }

    @Test("An envelope of a hundred megabytes is not parsed")
    func size() throws {
        let good = try Publication().signed(by: app.one)
        let limit = SignedEnvelope.maximumBytes
        #expect(try app.code(good + [UInt8](repeating: 0x20, count: limit - good.count)) == nil)
        #expect(try app.code(good + [UInt8](repeating: 0x20, count: limit - good.count + 1)) == .tooLarge)
        #expect(try app.code([UInt8](repeating: 0x5B, count: 100 << 20)) == .tooLarge)
    }

    // MARK: Keys

    @Test("Keys from openssl and pintle are parsed, and other input is refused")
    func keys() throws {
        let raw = app.one.key.rawRepresentation
        let beginning: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        #expect(try UpdateKey(subjectPublicKeyInfo: beginning + raw) == app.one.key)
        let pem = PEMBlock.text(label: "PUBLIC KEY", bytes: beginning + raw)
        #expect(try UpdateKey(pem: pem) == app.one.key)
        #expect(app.one.key.id == Hex.encode(SHA256Digest(hashing: raw).bytes))
        for broken in [
            beginning + raw.dropLast(), beginning + raw + [0], beginning,
            [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x71, 0x03, 0x21, 0x00] + raw,
        ] {
            #expect(throws: UpdateKeyError.self) { try UpdateKey(subjectPublicKeyInfo: broken) }
            let pem = PEMBlock.text(label: "PUBLIC KEY", bytes: broken)
            #expect(throws: UpdateKeyError.self) { try UpdateKey(pem: pem) }
        }
        let labelled = PEMBlock.text(label: "PRIVATE KEY", bytes: beginning + raw)
        for broken in ["", "junk", labelled, pem + pem] {
            #expect(throws: UpdateKeyError.self) { try UpdateKey(pem: broken) }
        }
    }

    @Test("Trust needs distinct keys and a threshold that they can reach")
    func trust() throws {
        let (one, two) = (app.one.key, app.two.key)
        #expect(try UpdateTrust(keys: [one, two], threshold: 2).threshold == 2)
        for (keys, threshold) in [([], 1), ([one, one], 1), ([one], 0), ([one], 2), ([one, two], -1)] {
            #expect(throws: UpdateKeyError.self) { try UpdateTrust(keys: keys, threshold: threshold) }
        }
        let many = try (UInt8(1)...17).map { try TestKey($0).key }
        #expect(throws: UpdateKeyError.self) { try UpdateTrust(keys: many) }
        #expect(try UpdateTrust(keys: Array(many.prefix(16)), threshold: 16).keys.count == 16)
    }
}
