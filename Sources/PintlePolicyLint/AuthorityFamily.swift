package import Pintle
package import PintleSystem

/// The roots of one authority. A server whose certificate comes from one of them can get its next certificate from any
/// other.
package struct AuthorityFamily: Sendable {
    /// A sentence of the authority, with the page on which it was read.
    package struct Quotation: Sendable {
        package let url: String
        package let read: Date
        package let sentence: String

        package init(url: String, read: Date, sentence: String) {
            (self.url, self.read, self.sentence) = (url, read, sentence)
        }
    }

    /// A root or an intermediate of the authority.
    package struct Member: Sendable {
        package let name: String
        /// The hash of its key; `nil` if the certificate could not be had.
        package let pin: PublicKeyPin?
        package let notAfter: Date?
        /// The certificate or page that the hash was taken from, or the reason why there is none.
        package let origin: String
        /// A remark such as that browsers stop trusting it on a date.
        package var note: String?

        package init(name: String, pin: PublicKeyPin?, notAfter: Date?, origin: String, note: String? = nil) {
            (self.name, self.pin, self.notAfter, self.origin, self.note) = (name, pin, notAfter, origin, note)
        }
    }

    /// The lifetime of server certificates that are issued from a day on.
    package struct Lifetime: Sendable {
        /// The first day; `nil` for the first lifetime in the list.
        package let from: Date?
        package let days: Int
        package let sources: [Quotation]

        package init(from: Date?, days: Int, sources: [Quotation]) {
            (self.from, self.days, self.sources) = (from, days, sources)
        }
    }

    package let id: String
    package let name: String
    /// Other words for it on the command line.
    package let aliases: [String]
    package let sources: [Quotation]
    /// The sentences in which the authority advises against pins.
    package let advice: [Quotation]
    /// The lifetimes in the order of their days.
    package let lifetimes: [Lifetime]
    /// The sentences that say that intermediates are exchanged without notice; empty if none was found.
    package let rotation: [Quotation]
    package let roots: [Member]
    package let intermediates: [Member]
    /// The keys of which every certificate had ended when the file was written, with the last day of each.
    package var retired: [Member] = []

    package init(
        id: String, name: String, aliases: [String], sources: [Quotation], advice: [Quotation], lifetimes: [Lifetime],
        rotation: [Quotation], roots: [Member], intermediates: [Member], retired: [Member] = []
    ) {
        (self.id, self.name, self.aliases) = (id, name, aliases)
        (self.sources, self.advice, self.rotation) = (sources, advice, rotation)
        (self.lifetimes, self.roots, self.intermediates, self.retired) = (lifetimes, roots, intermediates, retired)
    }

    /// The pins of the roots whose hash is known, in the order of the file.
    package var pins: [PublicKeyPin] { roots.compactMap(\.pin) }

    /// The roots without a hash.
    package var missing: [Member] { roots.filter { $0.pin == nil } }

    /// Returns the lifetime of a certificate that is issued at an instant; `nil` if none is known.
    package func lifetime(at instant: Date) -> Lifetime? {
        lifetimes.last { $0.from.map { $0 <= instant } ?? true }
    }
}

/// A network of servers whose certificates come from several authorities.
package struct IssuingEdge: Sendable {
    package let id: String
    package let name: String
    package let aliases: [String]
    /// The positions of the families in the file.
    package let families: [Int]
    package let sources: [AuthorityFamily.Quotation]
    /// The sentences in which the network advises against pins.
    package let advice: [AuthorityFamily.Quotation]

    package init(
        id: String, name: String, aliases: [String], families: [Int], sources: [AuthorityFamily.Quotation],
        advice: [AuthorityFamily.Quotation]
    ) {
        (self.id, self.name, self.aliases, self.families) = (id, name, aliases, families)
        (self.sources, self.advice) = (sources, advice)
    }
}
