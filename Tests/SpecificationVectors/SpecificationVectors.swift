package import Foundation

/// The test vectors in `Specification/vectors`.
package enum SpecificationVectors {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Specification")

    private struct NoVectors: Error {}

    /// Returns the vectors of a folder by their names.
    package static func files(_ group: String) throws -> [(name: String, content: Data)] {
        let folder = root.appendingPathComponent("vectors/" + group)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        guard !names.isEmpty else { throw NoVectors() }
        return try names.sorted().map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) }
    }

    package static func read<Vector: Decodable>(
        _ group: String, as _: Vector.Type = Vector.self
    ) throws -> [(name: String, vector: Vector)] {
        let decoder = JSONDecoder()
        return try files(group).map { ($0.name, try decoder.decode(Vector.self, from: $0.content)) }
    }

    /// Returns the text of a file of the specification.
    package static func document(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appendingPathComponent(name)), as: UTF8.self)
    }
}

/// Bytes that a vector writes as texts, repetitions, hexadecimal digits and base64 of other parts.
package struct VectorBytes: Decodable {
    package let bytes: [UInt8]

    private struct Part: Decodable {
        let bytes: [UInt8]

        private enum Key: CodingKey { case hex, `repeat`, times, base64 }

        private struct NoDigits: Error {}

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                bytes = Array(text.utf8)
                return
            }
            let members = try decoder.container(keyedBy: Key.self)
            if let digits = try members.decodeIfPresent(String.self, forKey: .hex) {
                bytes = try stride(from: 0, to: digits.utf8.count, by: 2).map { place in
                    guard let byte = UInt8(digits.dropFirst(place).prefix(2), radix: 16) else { throw NoDigits() }
                    return byte
                }
            } else if let text = try members.decodeIfPresent(String.self, forKey: .repeat) {
                let times = try members.decode(Int.self, forKey: .times)
                let unit = Array(text.utf8)
                bytes =
                    unit.count == 1
                    ? Array(repeating: unit[0], count: times) : Array(repeatElement(unit, count: times).joined())
            } else {
                let content = try members.decode(VectorBytes.self, forKey: .base64).bytes
                bytes = Array(Data(content).base64EncodedString().utf8)
            }
        }
    }

    package init(from decoder: any Decoder) throws {
        bytes = try decoder.singleValueContainer().decode([Part].self).flatMap(\.bytes)
    }
}
