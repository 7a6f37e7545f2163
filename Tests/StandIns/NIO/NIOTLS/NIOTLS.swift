public enum TLSUserEvent: Sendable {
    case handshakeCompleted(negotiatedProtocol: String?)
    case shutdownCompleted
}
