package import Pintle
internal import PintleSystem

/// The roots of one authority. A server whose certificate comes from one of them can get its next certificate from any
/// other.
package struct AuthorityFamily: Sendable {
    /// A sentence of the authority, with the page on which it was read.
    struct Quotation: Sendable {
        let url: String
        let read: Date
        let sentence: String
    }

    /// A root or an intermediate of the authority.
    package struct Member: Sendable {
        package let name: String
        /// The hash of its key; `nil` if the certificate could not be had.
        package let pin: PublicKeyPin?
        let notAfter: Date?
        /// The certificate or page that the hash was taken from, or the reason why there is none.
        let origin: String
        /// A remark such as that browsers stop trusting it on a date.
        var note: String?
    }

    /// The lifetime of server certificates that are issued from a day on.
    struct Lifetime: Sendable {
        /// The first day; `nil` for the first lifetime in the list.
        let from: Date?
        let days: Int
        let sources: [Quotation]
    }

    package let id: String
    package let name: String
    /// Other words for it on the command line.
    let aliases: [String]
    let sources: [Quotation]
    /// The sentences in which the authority advises against pins.
    let advice: [Quotation]
    /// The lifetimes in the order of their days.
    let lifetimes: [Lifetime]
    /// The sentences that say that intermediates are exchanged without notice; empty if none was found.
    let rotation: [Quotation]
    package let roots: [Member]
    let intermediates: [Member]
    /// The keys of which every certificate had ended when the file was written, with the last day of each.
    var retired: [Member] = []

    /// The pins of the roots whose hash is known, in the order of the file.
    package var pins: [PublicKeyPin] { roots.compactMap(\.pin) }

    /// The roots without a hash.
    var missing: [Member] { roots.filter { $0.pin == nil } }

    /// Returns the lifetime of a certificate that is issued at an instant; `nil` if none is known.
    func lifetime(at instant: Date) -> Lifetime? {
        lifetimes.last { $0.from.map { $0 <= instant } ?? true }
    }
}

/// A network of servers whose certificates come from several authorities.
struct IssuingEdge: Sendable {
    let id: String
    let name: String
    let aliases: [String]
    /// The positions of the families in the file.
    let families: [Int]
    let sources: [AuthorityFamily.Quotation]
    /// The sentences in which the network advises against pins.
    let advice: [AuthorityFamily.Quotation]
}
