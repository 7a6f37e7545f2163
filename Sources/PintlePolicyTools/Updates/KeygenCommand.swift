internal import Pintle
package import PintleConsole
internal import PintlePolicyFile
internal import PintleText
internal import PintleUpdates

extension Command {
    package static let keygen = Command(
        name: "keygen",
        summary: "Make a key pair that signs updates",
        examples: [
            Example(
                line: "pintle keygen --out update.key", purpose: "update.key, to keep, and update.key.pub, to ship"),
            Example(line: "pintle keygen --out offline.key", purpose: "the second key, made on another machine"),
        ],
        overview: [
            """
            Makes an Ed25519 key pair. The private key is PKCS#8 in PEM, mode 0600. The public key is \
            SubjectPublicKeyInfo in PEM, in a file of the same name with .pub at its end. `openssl genpkey -algorithm \
            ed25519` makes and reads the same. Prints the key id, the SHA-256 of the raw public key in hex. A file \
            that exists is never overwritten.
            """,
            """
            The key is not encrypted. To put a passphrase on it: `openssl pkcs8 -topk8 -in update.key -out \
            update.enc.key`; `pintle sign` reads both.
            """,
        ],
        arguments: [],
        ownOptions: [.keyOut],
        exitCodes: [(.fine, "both files were written"), (.unusable, "a file exists already or cannot be written")],
        sections: [
            .json(keys: [
                ("keyid", "The key id"), ("privateKey, publicKey", "The names of the two files"),
            ])
        ],
        articles: [.signedUpdates],
        run: { invocation throws(ToolError) in try KeygenCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let keyOut = Option(
        "out", short: "o", .output("FILE"), required: "the private key goes there",
        help: "The file for the private key")
}

/// `pintle keygen --out FILE`
struct KeygenCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let path = invocation.arguments[.keyOut]
        let publicPath = path + ".pub"
        for taken in [path, publicPath] where OutputFile.exists(taken) { throw .keyExists(taken) }
        var pair = try SigningKey.generate()
        defer { pair.wipe() }
        try OutputFile.create(path, mode: 0o600, pair.pem)
        try OutputFile.create(publicPath, mode: 0o644, Array(pair.publicPEM.utf8))

        let console = invocation.console
        let id = pair.publicKey.id
        if invocation.writesJSON {
            let document = JSONWriter.document { json in
                json.member("keyid", id)
                json.member("privateKey", path)
                json.member("publicKey", publicPath)
            }
            console.print(document)
        } else {
            console.print(id)
        }
        console.printMessage(
            "wrote \(SafeText.escape(path)), which signs, and \(SafeText.escape(publicPath)), which apps ship")
        // The second key's hint does not suggest to make a second key again.
        let isSecond = path.split(separator: "/").last == "offline.key"
        console.printMessage(
            isSecond
                ? "next: make the other key on the machine that signs, if you have not: pintle keygen --out update.key"
                : "next: make a second key on another machine and keep it offline: pintle keygen --out offline.key")
        console.printMessage(
            "      ship both public keys from the first release on; with only one, a lost key ends all updates")
        return .fine
    }
}
