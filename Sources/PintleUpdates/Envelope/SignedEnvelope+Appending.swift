internal import Pintle

extension SignedEnvelope {
    /// The envelope of a file with more signatures behind those it has. All else stays as it is written: members that
    /// this format does not have, their order, white space. Programs of others may need them.
    ///
    /// - Parameter file: what ``init(_:)`` reads.
    package static func appending(_ added: [Signature], to file: [UInt8]) throws(UpdateFailure) -> [UInt8] {
        let root = try document(file)
        guard let list = root["signatures"], let elements = list.elements else {
            throw malformed(root, "the envelope has no list of \"signatures\"")
        }
        var last: JSONValue?
        for element in elements { last = element }
        // Behind the last one, or behind the opening bracket.
        let place = last?.endOffset ?? list.offset + 1
        var text: [UInt8] = []
        for (index, signature) in added.enumerated() {
            if index > 0 || last != nil { text.append(UInt8(ascii: ",")) }
            let keyID = signature.keyID.map { "      \"keyid\": \(JSONWriter.quoted($0)),\n" } ?? ""
            text += "\n    {\n\(keyID)      \"sig\": \"\(Base64.encode(signature.bytes))\"\n    }".utf8
        }
        if last == nil, !added.isEmpty { text += "\n  ".utf8 }
        return Array(file[..<place]) + text + file[place...]
    }
}
