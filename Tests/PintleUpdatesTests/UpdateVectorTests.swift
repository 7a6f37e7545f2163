import Foundation
import Pintle
import PintleCrypto
import PintlePolicyFile
import SpecificationVectors
import Testing

@testable import PintleUpdates

/// The vectors of `Specification/update.md`.
@Suite("The vectors of updates")
struct UpdateVectorTests {
    private struct Input: Decodable {
        struct Floor: Decodable {
            let version: Int
            let keySetID: String
            let payloadDigest: String
        }

        struct Answer: Decodable, Equatable {
            let answer: String
            var code: String?
            var version: Int?
            var signers: Set<String>?
            var unchanged: Bool?
        }

        let keys: [String]
        let threshold: Int
        let bundled: String?
        let floor: Floor?
        let minimumVersion: Int
        let now: String
        let isStored: Bool
        let update: VectorBytes
        let expect: Answer

        var answer: Answer {
            get throws {
                let keys = try keys.map { try UpdateKey(rawRepresentation: try Hex.decode($0)) }
                let verifier = UpdateVerifier(
                    trust: try UpdateTrust(keys: keys, threshold: threshold),
                    unscoped: try bundled.map { try PinningPolicy(json: Array($0.utf8)) })
                let floor = try floor.map {
                    UpdateFloor(
                        version: $0.version, keySetID: $0.keySetID,
                        payloadDigest: try #require(SHA256Digest(bytes: try Hex.decode($0.payloadDigest))))
                }
                let now = try RFC3339.date(from: now)
                do throws(UpdateError) {
                    let update =
                        isStored
                        ? try verifier.verifyStored(update.bytes, floor: floor)
                        : try verifier.verify(update.bytes, floor: floor, minimumVersion: minimumVersion, at: now)
                    return Answer(
                        answer: "accepted", version: update.version, signers: Set(update.signers.map(\.id)),
                        unchanged: update.isUnchanged)
                } catch {
                    return Answer(answer: "refused", code: error.code.rawValue)
                }
            }
        }
    }

    @Test("Every update has the answer of its vector, and every code has a vector")
    func updates() throws {
        var codes: Set<String> = []
        for (name, input) in try SpecificationVectors.read("update", as: Input.self) {
            #expect(try input.answer == input.expect, "\(name)")
            if let code = input.expect.code { codes.insert(code) }
        }
        #expect(codes == Set(UpdateError.Code.allCases.map(\.rawValue)))
    }

    private struct Keys: Decodable {
        struct Answer: Decodable { let answer: String }

        let keys: [String]
        let threshold: Int
        let expect: Answer

        var areUsable: Bool {
            get throws {
                do {
                    let keys = try keys.map { try UpdateKey(rawRepresentation: try Hex.decode($0)) }
                    _ = try UpdateTrust(keys: keys, threshold: threshold)
                    return true
                } catch is UpdateKeyError {
                    return false
                }
            }
        }
    }

    @Test("Every list of keys has the answer of its vector")
    func keys() throws {
        for (name, input) in try SpecificationVectors.read("keys", as: Keys.self) {
            #expect(try input.areUsable == (input.expect.answer == "usable"), "\(name)")
        }
    }
}
