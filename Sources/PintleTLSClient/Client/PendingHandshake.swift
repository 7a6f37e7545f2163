internal import Pintle
internal import PintleOpenSSL
internal import PintleSystem

/// A handshake in progress in a ``HandshakeLoop``: DNS look-up, TCP, TLS, and a short wait in which the peer can read
/// an alert. Not thread-safe: use it on one thread.
final class PendingHandshake {
    /// The most sockets for one server at a time, however many addresses its name has.
    package static let socketLimit = 2

    private let order: HandshakeOrder
    private let context: TLSContext
    private let configuration: TLSClient.Configuration
    private let hook: VerificationHook
    private var connector: TCPConnector?
    private var handshake: TLSHandshake?
    /// The deadline of the handshake, or of the wait after an alert.
    private var deadline: Deadline?
    private var isLeaving = false
    private(set) var isOver = false

    init(_ order: HandshakeOrder, context: TLSContext, _ configuration: TLSClient.Configuration) {
        self.order = order
        self.context = context
        self.configuration = configuration
        hook = VerificationHook(
            for: order.target.endpoint, authentication: order.authentication, judge: order.judge)
    }

    /// The descriptors and events that `poll` must watch.
    var interests: [(descriptor: CInt, events: CInt)] {
        if let descriptor = handshake?.descriptor {
            return [(descriptor, isLeaving ? POLLIN : handshake?.events ?? POLLIN)]
        }
        return connector?.waiting.map { ($0, POLLOUT) } ?? []
    }

    /// The time at which ``advance()`` must be called even without an event.
    var wake: Deadline? { connector?.wake ?? deadline }

    /// Starts to resolve the destination. An IP literal is resolved at once.
    func open(_ lookups: Lookups) {
        do throws(HandshakeError) {
            try order.target.requireOwnAddress()
        } catch {
            return end(.failure(error))
        }
        let destination = order.target.destination
        guard case .none = order.proxy else {
            let (proxy, timeout) = (order.proxy, configuration.connectTimeout)
            return lookups.add {
                do throws(HandshakeError) {
                    return .tunnel(try ProxyTunnel.open(proxy, to: destination, timeout: timeout).intoDescriptor())
                } catch {
                    return .failed(error)
                }
            } whenDone: { [weak self] result in
                self?.opened(result)
            }
        }
        let resolve: @Sendable () -> Lookups.Result = {
            do throws(HandshakeError) {
                return .addresses(try SocketAddress.resolve(destination, as: .server))
            } catch {
                return .failed(error)
            }
        }
        if destination.isAddress {
            opened(resolve())
        } else {
            lookups.add(resolve) { [weak self] result in self?.opened(result) }
        }
    }

    private func opened(_ result: Lookups.Result) {
        switch result {
        case .addresses(let addresses):
            connector = TCPConnector(
                to: order.target.destination, at: addresses, as: .server, timeout: configuration.connectTimeout,
                atMost: Self.socketLimit)
            advance()
        case .tunnel(let descriptor): connected(Socket(adopting: descriptor))
        case .failed(let error): end(.failure(error))
        }
    }

    /// Continues as far as possible without blocking.
    func advance() {
        if isOver { return }
        if isLeaving {
            if handshake?.leave() ?? true || deadline?.hasPassed ?? true { finish() }
        } else if connector != nil {
            do throws(HandshakeError) {
                if let socket = try connector?.advance() { connected(socket) }
            } catch {
                end(.failure(error))
            }
        } else {
            speak()
        }
    }

    private func connected(_ socket: consuming Socket) {
        connector = nil
        do throws(HandshakeError) {
            var handshake = try TLSHandshake(
                context: context, socket: socket, target: order.target.endpoint, timeout: configuration.handshakeTimeout
            )
            deadline = try handshake.start(hook)
            self.handshake = consume handshake
            speak()
        } catch {
            end(.failure(error))
        }
    }

    private func speak() {
        guard let deadline else { return }
        switch handshake?.step(hook, until: deadline) {
        case .waiting, nil: return
        case .accepted:
            guard let handshake = handshake.take() else { return }
            do throws(HandshakeError) {
                end(.success(try TLSConnection(handshake.intoPump(), target: order.target.endpoint)))
            } catch {
                end(.failure(error))
            }
        case .ended(let ending):
            guard ending.tellsPeer else { return end(.failure(ending.error)) }
            isLeaving = true
            self.deadline = TLSHandshake.leaveBy
            order.ended(.failure(ending.error))
        }
    }

    private func end(_ result: Result<TLSConnection, HandshakeError>) {
        finish()
        order.ended(result)
    }

    private func finish() {
        isOver = true
        connector = nil
        handshake = nil
        deadline = nil
    }
}
