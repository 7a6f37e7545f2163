package import Pintle
package import PintleSystem

/// The families of a file: which roots belong to the same authority, and from which authorities a network gets its
/// certificates.
package struct AuthorityFamilies: Sendable {
    /// The day on which the sources were read.
    package let date: Date
    package let families: [AuthorityFamily]
    package let edges: [IssuingEdge]
    private let roots: [PublicKeyPin: Int]
    private let intermediates: [PublicKeyPin: Int]
    private let retired: [PublicKeyPin: Int]

    /// - Parameter families: no two have a root in common.
    package init(date: Date, families: [AuthorityFamily], edges: [IssuingEdge]) {
        self.date = date
        self.families = families
        self.edges = edges
        func index(_ members: KeyPath<AuthorityFamily, [AuthorityFamily.Member]>) -> [PublicKeyPin: Int] {
            var index: [PublicKeyPin: Int] = [:]
            for (position, family) in families.enumerated() {
                for pin in family[keyPath: members].compactMap(\.pin) { index[pin] = position }
            }
            return index
        }
        roots = index(\.roots)
        intermediates = index(\.intermediates)
        retired = index(\.retired)
    }

    /// Returns the family that has this key as a root.
    package func family(ofRoot pin: PublicKeyPin) -> AuthorityFamily? { roots[pin].map { families[$0] } }

    /// Returns the family that has this key as an intermediate.
    package func family(ofIntermediate pin: PublicKeyPin) -> AuthorityFamily? {
        intermediates[pin].map { families[$0] }
    }

    /// Returns the family of a key of which every certificate has ended, and the key; `nil` for any other key.
    package func endedKey(
        _ pin: PublicKeyPin, at instant: Date
    ) -> (family: AuthorityFamily, key: AuthorityFamily.Member, end: Date)? {
        guard let index = retired[pin] ?? roots[pin] ?? intermediates[pin] else { return nil }
        let family = families[index]
        let keys = family.retired + family.roots + family.intermediates
        // The date is the last day of validity.
        guard let key = keys.first(where: { $0.pin == pin }), let end = key.notAfter,
            instant.timeIntervalSince(end) >= 86_400
        else { return nil }
        return (family, key, end)
    }

    /// Returns the family of the first certificate above the leaf that is a root of one. With a cross-signed root this
    /// is not the end of the path, which may belong to an older authority that signed the root of a younger one.
    ///
    /// - Parameter keys: the keys of the path, leaf first.
    package func family(ofPath keys: [PublicKeyPin]) -> AuthorityFamily? {
        keys.dropFirst().lazy.compactMap { family(ofRoot: $0) }.first
    }

    /// Returns the edges that get certificates from a family.
    package func edges(of family: AuthorityFamily) -> [IssuingEdge] {
        edges.filter { edge in edge.families.contains { families[$0].id == family.id } }
    }

    /// An authority, or an edge that gets certificates from several.
    package struct Selection: Sendable {
        package let id: String
        package let name: String
        package let families: [AuthorityFamily]
        /// The sentences that connect an edge with its families; empty for an authority.
        package let sources: [AuthorityFamily.Quotation]
        /// The sentences in which the edge, or the authority, advises against pins.
        package let advice: [AuthorityFamily.Quotation]

        fileprivate init(_ edge: IssuingEdge, _ families: [AuthorityFamily]) {
            (id, name, self.families) = (edge.id, edge.name, families)
            (sources, advice) = (edge.sources, edge.advice)
        }

        package init(_ family: AuthorityFamily) {
            (id, name, families) = (family.id, family.name, [family])
            (sources, advice) = ([], family.advice)
        }
    }

    /// Returns the authority or edge with this id, name or alias; letter case does not matter.
    package func selection(named word: String) -> Selection? {
        func matches(_ id: String, _ name: String, _ aliases: [String]) -> Bool {
            ([id, name] + aliases).contains { $0.lowercased() == word.lowercased() }
        }
        if let family = families.first(where: { matches($0.id, $0.name, $0.aliases) }) {
            return Selection(family)
        }
        return edges.first { matches($0.id, $0.name, $0.aliases) }.map { edge in
            Selection(edge, edge.families.map { families[$0] })
        }
    }

    /// The ids of authorities and edges, in the order of the file.
    package var ids: [String] { families.map(\.id) + edges.map(\.id) }

    /// Returns every pin of a root that another file lacks, or lists in another family.
    package func pins(missingIn other: AuthorityFamilies) -> Set<PublicKeyPin> {
        Set(roots.keys.filter { family(ofRoot: $0)?.id != other.family(ofRoot: $0)?.id })
    }

    /// A Boolean value that indicates whether the sources were read more than a year ago.
    package func isOld(at instant: Date) -> Bool { instant.timeIntervalSince(date) > 366 * 86_400 }
}

extension AuthorityFamilies {
    /// Returns the family to which every pin of a rule belongs; `nil` if one does not, or if the rule pins nothing.
    package func onlyFamily(of host: PinnedHost) -> AuthorityFamily? {
        var found: AuthorityFamily?
        for pin in host.pins + host.backupPins {
            guard let family = family(of: pin), found == nil || found?.id == family.id else { return nil }
            found = family
        }
        return found
    }

    /// Returns whether a rule pins a key of a family.
    package func isUsed(by host: PinnedHost) -> Bool {
        (host.pins + host.backupPins).contains { family(of: $0) != nil }
    }

    /// Returns the authority whose root a backup pin is, in a rule of which all pins in use are such roots too.
    ///
    /// Such a rule lists the roots from which the next certificate may come. Whichever of them matches, the owner of
    /// the server needs no new backup key. An intermediate does not count, because a renewal may use another one.
    package func authority(ofBackup pin: Pin, in host: PinnedHost) -> AuthorityFamily? {
        guard !host.pins.isEmpty, host.pins.allSatisfy({ authority(ofRoot: $0) != nil }) else { return nil }
        return authority(ofRoot: pin)
    }

    private func authority(ofRoot pin: Pin) -> AuthorityFamily? {
        pin.position == .leaf ? nil : pin.key.flatMap(family(ofRoot:))
    }

    /// Returns the name of the root that has the key of a pin; `nil` for pins of a leaf.
    package func rootName(of pin: Pin) -> String? {
        guard pin.position != .leaf, let key = pin.key else { return nil }
        return family(ofRoot: key)?.roots.first { $0.pin == key }?.name
    }

    /// Returns the family that has the key of a pin as a root or intermediate; `nil` for pins of a leaf.
    package func family(of pin: Pin) -> AuthorityFamily? {
        guard pin.position != .leaf, let key = pin.key else { return nil }
        return family(ofRoot: key) ?? family(ofIntermediate: key)
    }
}
