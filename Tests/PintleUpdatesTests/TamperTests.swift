import FoundationEssentials
import Pintle
import Testing

@testable import PintlePolicyFile
@testable import PintleUpdates

/// Changes and truncates a valid update at every byte. Only unsigned bytes may change without a failure.
@Suite("No signed byte of an update can be changed")
struct TamperTests {
    let app: ShippedApp

    init() throws {
        app = try ShippedApp()
    }

    @Test("An update that is truncated at any byte is refused")
    func truncated() throws {
        let good = try Publication().signed(by: app.one)
        let verifier = try app.verifier
        #expect(try app.code(good) == nil)
        // The last byte is a line break after the object.
        for count in 0..<good.count - 1 {
            #expect(throws: UpdateError.self, "cut off at \(count)") {
                try verifier.verify(Array(good.prefix(count)), floor: nil, at: Publication.now)
            }
        }
    }

    @Test("An update with any bit flipped is refused or has exactly the same content")
    func flipped() throws {
        let good = try Publication().signed(by: app.one)
        let verifier = try app.verifier
        let original = try verifier.verify(good, floor: nil, at: Publication.now)
        // The unsigned parts: the member with the key id, and white space.
        let signature = try JSONDocument(good).root["signatures"]?.elements?.first { _ in true }
        let keyID = try #require(signature?["keyid"])
        let unsigned = keyID.offset - "\"keyid\": ".utf8.count..<keyID.endOffset
        var taken = 0
        for index in good.indices {
            for bit in 0..<8 {
                var bytes = good
                bytes[index] ^= 1 << UInt8(bit)
                guard let update = try? verifier.verify(bytes, floor: nil, at: Publication.now) else { continue }
                taken += 1
                #expect(update.payloadDigest == original.payloadDigest)
                let isUnsigned = unsigned ~= index || [0x20, 0x0A].contains(good[index])
                #expect(isUnsigned, "byte \(index), bit \(bit)")
            }
        }
        #expect(taken > 0)
    }

    @Test("A bit flip inside the payload of a well-formed envelope is refused")
    func flippedInside() throws {
        let publication = Publication()
        var envelope = SignedEnvelope(payload: publication.payload)
        let signature = try app.one.signature(over: envelope)
        envelope.signatures = [signature]
        let verifier = try app.verifier
        #expect(throws: Never.self) { try verifier.verify(envelope.json, floor: nil, at: Publication.now) }
        func expectInvalid(_ payload: [UInt8], _ signature: [UInt8]) {
            let changed = SignedEnvelope(payload: payload, signatures: [.init(keyID: nil, bytes: signature)])
            do {
                _ = try verifier.verify(changed.json, floor: nil, at: Publication.now)
                Issue.record("taken")
            } catch {
                #expect(error.code == .invalidSignature)
            }
        }
        for index in envelope.payload.indices {
            for bit in 0..<8 {
                var payload = envelope.payload
                payload[index] ^= 1 << UInt8(bit)
                expectInvalid(payload, signature.bytes)
            }
            expectInvalid(Array(envelope.payload.prefix(index)), signature.bytes)
        }
        for index in signature.bytes.indices {
            for bit in 0..<8 {
                var bytes = signature.bytes
                bytes[index] ^= 1 << UInt8(bit)
                expectInvalid(envelope.payload, bytes)
            }
            expectInvalid(envelope.payload, Array(signature.bytes.prefix(index)))
        }
        expectInvalid(envelope.payload + [0x20], signature.bytes)
        expectInvalid(envelope.payload, signature.bytes + [0])
    }
}
