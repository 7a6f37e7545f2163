import ClientModel
import SwiftUI

struct RequestView: View {
    @ObservedObject var model: Model

    var body: some View {
        Form {
            TextField("Address", text: $model.address).autocorrectionDisabled()
            Button("Load") { Task { await model.load() } }
            Button("Rotate") { model.rotate() }
            Text(model.text).font(.body.monospaced())
        }
    }
}

/// A sheet with the facts that the user must compare, without a default button that is pressed by habit.
struct UnknownServerSheet: View {
    let question: ServerQuestion
    @ObservedObject var model: Model
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        Form {
            Section("This server has no trusted certificate") {
                LabeledText("Server", question.server)
                LabeledText("Certificate", question.subject)
                LabeledText("Verdict", question.verdict)
                LabeledText("Fingerprint", question.fingerprint)
            }
            if !question.exceptions.isEmpty {
                Text(question.exceptions.joined(separator: "\n")).foregroundColor(.red)
            }
            if question.wasKnownWithAnotherKey { Text("It was known with another key.").foregroundColor(.red) }
            if question.lostDecisions {
                Text("Earlier decisions are lost. This server may have been known with another key.")
                    .foregroundColor(.red)
            }
            if let obstacle = question.obstacle {
                Text("It cannot be approved: \(obstacle)")
            } else {
                Button(
                    question.lostDecisions
                        ? "I asked the owner again, and it is this fingerprint" : "The owner told me this fingerprint",
                    role: .destructive
                ) { approve() }
            }
            Button("Cancel", role: .cancel) { dismiss() }
        }
    }

    private func approve() {
        do {
            if question.lostDecisions {
                try model.client?.approveDespiteLoss(question)
            } else {
                try model.client?.approve(question)
            }
            dismiss()
            Task { await model.load() }
        } catch {
            model.text = "\(error)"
            dismiss()
        }
    }
}

private struct LabeledText: View {
    let label: String
    let text: String

    init(_ label: String, _ text: String) {
        self.label = label
        self.text = text
    }

    var body: some View {
        VStack(alignment: .leading) {
            Text(label).font(.caption)
            Text(text).font(.body.monospaced()).textSelection(.enabled)
        }
    }
}
