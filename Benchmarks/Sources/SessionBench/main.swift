// Sections C and G: HTTPS on loopback. The servers are this program and nginx, on one processor. The clients are
// separate processes on another processor, so that their time and memory can be measured separately.
import Foundation

let arguments = CommandLine.arguments
do {
    switch arguments.count > 1 ? arguments[1] : "times" {
    case "client" where arguments.count == 4:
        try await Clients(files: arguments[2], what: arguments[3]).run()
    case "load":
        try LoadSection.run(goClient: arguments.count > 2 ? arguments[2] : nil)
    case "load-under":
        try LoadSection.run(underTool: arguments.dropFirst(2))
    case "load-client":
        try LoadClient(arguments.dropFirst(2)).run()
    case let what:
        // When it returns, the servers have ended and their folder is removed.
        exit(try Servers.run(what))
    }
} catch {
    stop("\(error)")
}

func stop(_ message: String) -> Never {
    print("bench: \(message)")
    exit(2)
}
