internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Content that waits for a delegate.
struct ContentPiece {
    /// Empty where it is in a file already.
    var data: Data
    var count: Int
    /// How much has come with it, from the beginning.
    var received: Int64
    var cost: Int
}

/// Content on its way to a delegate. What comes while a message waits in the queue joins it: a delegate that is slower
/// than the network is told of more at a time, and less often.
extension TaskLoader {
    /// What may wait for a slow delegate.
    static let backlogLimit = 1 << 20

    /// Tells of the first piece. On the transport's thread, once for each that did not join another.
    func tellPiece() {
        let (delegate, loader) = (delegate, self)
        tell { session, task in
            guard let (piece, expected) = loader.takePiece() else { return }
            if loader.isDownload {
                if let task = task as? URLSessionDownloadTask {
                    (delegate as? any URLSessionDownloadDelegate)?.urlSession(
                        session, downloadTask: task, didWriteData: Int64(piece.count),
                        totalBytesWritten: piece.received, totalBytesExpectedToWrite: expected)
                }
            } else if let task = task as? URLSessionDataTask {
                (delegate as? any URLSessionDataDelegate)?.urlSession(session, dataTask: task, didReceive: piece.data)
            }
            loader.workOff(piece.cost)
        }
        state.withLock { $0.isLastPieceOpen = true }
    }

    private func takePiece() -> (ContentPiece, expected: Int64)? {
        state.withLock { state in
            state.pieces.isEmpty ? nil : (state.pieces.removeFirst(), state.expectedToReceive)
        }
    }

    private func workOff(_ cost: Int) {
        let wasOver = state.withLock { state in
            let before = state.backlog
            state.backlog -= cost
            return before > Self.backlogLimit && state.backlog <= Self.backlogLimit
        }
        if wasOver { withTransfer { $0.release($1, .backlog) } }
    }
}

extension TaskLoader.State {
    /// A piece that waits costs more than its bytes: a server may send them one by one.
    private static let pieceCost = 1 << 10

    /// - Returns: whether it has joined the last piece, of which the delegate will be told anyway.
    mutating func append(_ data: Data?, count: Int) -> Bool {
        if isLastPieceOpen, let last = pieces.indices.last {
            if let data { pieces[last].data.append(data) }
            pieces[last].count += count
            pieces[last].received = received
            pieces[last].cost += count
            backlog += count
            return true
        }
        let cost = max(count, Self.pieceCost)
        pieces.append(ContentPiece(data: data ?? Data(), count: count, received: received, cost: cost))
        backlog += cost
        return false
    }
}
