// A client that `pintle rehearse -- CLIENT {policy} {url}` can attack.

// Only on Linux, because on Apple's systems Foundation has no separate networking module.
#if canImport(PintleURLSession) && canImport(FoundationNetworking)
// snippet.client
import PintlePolicyFile
import Foundation
import FoundationNetworking
import PintleURLSession

let arguments = CommandLine.arguments
guard arguments.count == 3, let url = URL(string: arguments[2]) else { throw URLError(.badURL) }
let policy = try PinningPolicy(json: Array(Data(contentsOf: URL(fileURLWithPath: arguments[1]))))
let configuration = URLSessionConfiguration.ephemeral
configuration.timeoutIntervalForRequest = 3  // shorter than the --timeout of the rehearsal
do {
    let (data, _) = try await URLSession.pinned(to: policy, configuration: configuration).data(from: url)
    print(data.count)
} catch {
    print(error.localizedDescription)
    exit(1)  // an error that leaves the program ends it by a signal, as a crash does
}
// snippet.end
#endif
