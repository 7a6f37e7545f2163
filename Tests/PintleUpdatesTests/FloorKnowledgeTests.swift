import PintleCrypto
import PintleStorage
import Testing

@testable import PintleUpdates

@Suite("Knowledge of the floor")
struct FloorKnowledgeTests {
    private static let locked = StorageError(.locked, at: "place", message: "locked", hint: "unlock")

    private static func floor(_ version: Int?, _ content: UInt8 = 0) -> UpdateFloor? {
        version.map { UpdateFloor(version: $0, keySetID: "00", payloadDigest: SHA256Digest(hashing: [content])) }
    }

    private static func text(_ knowledge: FloorKnowledge) -> String {
        let floor = knowledge.lowerBound.map { "\($0.version)" } ?? "none"
        return switch knowledge {
        case .known: "known \(floor)"
        case .outdated(_, let error): "outdated \(floor) \(error.code.rawValue)"
        case .unchecked(_, let error): "unchecked \(floor) \(error.code.rawValue)"
        }
    }

    /// Returns the knowledge after several reads. Each read has a flag for the copy outside, and the version that it
    /// saw.
    private static func after(_ first: (Bool, Int?), _ looks: (Bool, Int?)...) -> String {
        func knowledge(_ look: (isReadable: Bool, version: Int?)) -> FloorKnowledge {
            look.isReadable ? .known(floor(look.version)) : .unchecked(atLeast: floor(look.version), locked)
        }
        return text(looks.reduce(knowledge(first)) { $0.updated(by: knowledge($1)) })
    }

    @Test("The floor never falls, whichever copies a read could access")
    func highest() {
        for isFirstReadable in [true, false] {
            for isSecondReadable in [true, false] {
                let versions: [(Int?, Int?)] = [(3, nil), (3, 2), (3, 3), (nil, 3), (2, 3)]
                let ends = versions.map { Self.after((isFirstReadable, $0.0), (isSecondReadable, $0.1)) }
                #expect(ends.allSatisfy { $0.contains(" 3") }, "\(ends)")
            }
        }
        #expect(Self.after((true, nil), (true, nil)) == "known none")
    }

    @Test("The floor is unchecked only in a process that has never read it")
    func cases() {
        #expect(Self.after((true, 3), (true, 3)) == "known 3")
        #expect(Self.after((true, 3), (false, 3)) == "outdated 3 locked")
        #expect(Self.after((true, 3), (false, 3), (false, 3)) == "outdated 3 locked")
        #expect(Self.after((true, 3), (false, 3), (true, 3)) == "known 3")
        #expect(Self.after((false, 3), (false, 3)) == "unchecked 3 locked")
        #expect(Self.after((false, 3), (true, 3)) == "known 3")
        #expect(Self.after((false, 3), (true, 3), (false, 3)) == "outdated 3 locked")
    }

    @Test("Of two floors with the same version, the earlier one stays")
    func replaced() throws {
        let first = try #require(Self.floor(3, 1))
        let other = try #require(Self.floor(3, 2))
        let higher = try #require(Self.floor(4, 2))
        #expect(FloorKnowledge.known(first).updated(by: .known(other)).lowerBound == first)
        #expect(FloorKnowledge.known(first).updated(by: .known(higher)).lowerBound == higher)
    }
}
