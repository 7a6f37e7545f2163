public import Security

open class NWProtocolTLS {
    open class Options {
        public let securityProtocolOptions: sec_protocol_options_t

        public init() {
            securityProtocolOptions = SecProtocolOptions()
        }
    }
}
