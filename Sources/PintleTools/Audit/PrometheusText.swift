internal import PintleSystem

/// A text of metrics, all of the type gauge.
struct PrometheusText {
    private(set) var text = ""
    private var name = ""

    mutating func family(_ name: String, _ help: String) {
        self.name = name
        text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
    }

    /// Adds a sample to the family, with its labels in the order of their names.
    mutating func sample(_ labels: [String: String], _ value: Int) {
        let list = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(Self.escape($0.value))\"" }
        text += name + (list.isEmpty ? "" : "{\(list.joined(separator: ","))}") + " \(value)\n"
    }

    /// Adds a sample in whole seconds since 1970.
    mutating func sample(_ labels: [String: String], _ date: Date) {
        sample(labels, Int(clamping: Int64(date.timeIntervalSince1970.rounded(.down))))
    }

    /// Escapes what could change a terminal, and then what the format does not allow in a label's value. The values of
    /// forged results can hold anything.
    private static func escape(_ value: String) -> String {
        SafeText.escape(value).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
