import Foundation
import PintleAttacks
import PintleTestKit
import Testing

/// The file of clients in `Examples/clients`, and the table that `make rehearse-clients` writes.
@Suite("The table of clients")
struct ClientTableTests {
    private struct Data: Decodable {
        struct Cause: Decodable {
            let id: String
            let label: String
            let attacks: [String]
            let line: String
        }

        struct Client: Decodable {
            struct Needs: Decodable {
                let programs: [String]?
                let debian: [String]?
                let python: [String]?
                let files: [String]?
            }

            struct Version: Decodable {
                let command: [String]
                let pattern: String
            }

            let id: String
            let name: String
            let does: String
            let needs: Needs
            let version: Version
            let source: String?
            let built: String?
            let build: [String]?
            let run: [String]
            let because: [String]
        }

        let version: Int
        let causes: [Cause]
        let clients: [Client]
    }

    private let data: Data
    private let attacks: Set<String>
    /// The lines of the article that the script writes.
    private let lines: [String]

    init() throws {
        data = try JSONDecoder().decode(
            Data.self, from: Foundation.Data(try Recipes.file("Examples/clients/clients.json")))
        let catalogue = try Catalogue()
        attacks = Set(([catalogue.control] + catalogue.scenarios).map(\.id))
        let article = String(
            decoding: try Recipes.file("Sources/PintleTools/PintleTools.docc/ClientTable.md"), as: UTF8.self)
        let parts = article.components(separatedBy: "<!-- Written by make rehearse-clients -->\n")
        try #require(parts.count == 2, "the article has one place for the table")
        lines =
            (parts.last ?? "").components(separatedBy: "<!-- Until here -->").first.map {
                $0.components(separatedBy: "\n")
            } ?? []
    }

    /// The cells of each client's row.
    private var rows: [[String]] {
        lines.filter { $0.hasPrefix("|") }.dropFirst(2).map { $0.dropFirst().dropLast().components(separatedBy: "|") }
    }

    /// Returns the words in code font.
    private func codes(_ text: String) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    @Test("Each client has its own id, a run that names the server, and files that exist")
    func clients() {
        #expect(data.version == 1)
        #expect(Set(data.clients.map(\.id)).count == data.clients.count)
        for client in data.clients {
            #expect(!client.name.isEmpty && !client.does.isEmpty && !client.version.command.isEmpty, "\(client.id)")
            #expect(client.run.contains { $0.contains("{url}") || $0.contains("{port}") }, "\(client.id)")
            #expect((client.build == nil) == (client.source == nil) && (client.build == nil) == (client.built == nil))
            for file in client.run + [client.source].compactMap({ $0 })
            where file.hasPrefix("Examples/") || file.hasPrefix("Snippets/") {
                #expect(Recipes.holds(file), "\(client.id): \(file)")
            }
        }
    }

    @Test("Each cause names attacks of the catalogue and explains them in one line, and a client has it")
    func causes() {
        #expect(Set(data.causes.map(\.id)).count == data.causes.count)
        #expect(Set(data.causes.map(\.label)).count == data.causes.count)
        for cause in data.causes {
            #expect(!cause.attacks.isEmpty && attacks.isSuperset(of: cause.attacks), "\(cause.id)")
            #expect(cause.line.hasSuffix(".") && !cause.line.contains("\n"), "\(cause.id)")
        }
        #expect(Set(data.clients.flatMap(\.because)) == Set(data.causes.map(\.id)))
    }

    @Test("The table has a measured row for each client, in the order of the file")
    func measured() {
        #expect(rows.count == data.clients.count)
        for (row, client) in zip(rows, data.clients) {
            #expect(row.count == 5 && row.first?.hasPrefix(client.name + " ") == true, "\(client.id)")
            #expect(row.dropFirst().first != "not installed", "\(client.id)")
        }
    }

    @Test("Each cell names attacks of the catalogue or causes of its client, and as many as it counts")
    func cells() {
        let labels = Dictionary(uniqueKeysWithValues: data.causes.map { ($0.id, $0.label) })
        for (row, client) in zip(rows, data.clients) where row.count == 5 {
            let causes = Set(client.because.compactMap { labels[$0] })
            var counts: [Int] = []
            for cell in row[2...] {
                var count = 0
                for word in cell.components(separatedBy: ", ") where word != "none" {
                    let parts = word.components(separatedBy: " (")
                    if parts.count == 2, let number = Int(parts[1].dropLast()) {
                        #expect(causes.contains(parts[0]), "\(client.id): \(word)")
                        count += number
                    } else {
                        #expect(attacks.contains(codes(word).first ?? ""), "\(client.id): \(word)")
                        count += 1
                    }
                }
                counts.append(count)
            }
            #expect(row[1] == "no verdict" || row[1].hasPrefix("\(counts[0]) of "), "\(client.id): \(row)")
        }
    }

    @Test("Each note is a line of the file, and each attack in the table has one")
    func notes() {
        let notes = lines.filter { $0.hasPrefix("- ") }
        var explained: Set<String> = []
        for note in notes {
            let cause = data.causes.first { note.hasSuffix(": " + $0.line) }
            let named = codes(note.components(separatedBy: ": ").first ?? "")
            #expect(cause != nil && Set(named).isSubset(of: cause?.attacks ?? []), "\(note)")
            explained.formUnion(named)
        }
        #expect(explained.isSuperset(of: rows.flatMap { $0.dropFirst(2) }.flatMap(codes)))
    }
}
