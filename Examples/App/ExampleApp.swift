import ClientModel
import Combine
import Foundation
import SwiftUI

@main
struct ExampleApp: App {
    @StateObject private var model = Model()

    var body: some Scene {
        WindowGroup {
            TabView {
                RequestView(model: model).tabItem { Label("Request", systemImage: "arrow.down.circle") }
                PageView(model: model).tabItem { Label("Page", systemImage: "globe") }
            }
            .sheet(item: $model.question) { UnknownServerSheet(question: $0, model: model) }
        }
    }
}

/// The state of the views. `policy.json` and `next-policy.json` are resources of the app.
@MainActor
final class Model: ObservableObject {
    @Published var address = "https://example.com/"
    @Published var text = ""
    @Published var question: ServerQuestion?
    private(set) var client: Client?

    init() {
        do {
            let folder = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            client = try Client(policy: Self.policy("policy"), folder: folder.path)
        } catch {
            text = "\(error)"
        }
    }

    static func policy(_ name: String) throws -> [UInt8] {
        guard let url = Bundle.main.url(forResource: name, withExtension: "json") else {
            throw CocoaError(.fileNoSuchFile)
        }
        return Array(try Data(contentsOf: url))
    }

    func load() async {
        guard let client, let url = URL(string: address) else { return }
        switch await client.load(url) {
        case .page(let status, let text): self.text = "\(status)\n\(text)"
        case .question(let question): self.question = question
        case .refused(let reason, let story): text = "\(reason)\n\(story)"
        case .failed(let text): self.text = text
        }
    }

    /// Replaces the policy, as an update would.
    func rotate() {
        do {
            try client?.rotate(to: Self.policy("next-policy"))
            text = "another policy is in force"
        } catch {
            text = "\(error)"
        }
    }
}
