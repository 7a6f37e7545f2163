// Section C: HTTPS on loopback. The servers are this program and nginx, on one processor. The clients are a separate
// process on another processor, so that their time and memory can be measured separately.
import Foundation

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "client" {
    try await Clients(files: arguments[2], what: arguments[3]).run()
} else {
    // When it returns, the servers have ended and their folder is removed.
    exit(try Servers.run(arguments.count > 1 ? arguments[1] : "times"))
}

func stop(_ message: String) -> Never {
    print("bench: \(message)")
    exit(2)
}
