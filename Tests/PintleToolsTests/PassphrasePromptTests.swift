import Glibc
import PintleTestKit
import Testing

/// The prompt for a passphrase, in a process with a terminal of its own.
@Suite(
    "The passphrase prompt",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct PassphrasePromptTests {
    /// Starts the program, waits for its question, acts, and prints how it ended and whether the terminal echoes.
    private static let script = """
        import fcntl, os, pty, select, signal, sys, termios
        action, program = sys.argv[1], sys.argv[2:]
        master, slave = pty.openpty()
        child = os.fork()
        if child == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for descriptor in range(3):
                os.dup2(slave, descriptor)
            os.execv(program[0], program)
        def echoes():
            return bool(termios.tcgetattr(slave)[3] & termios.ECHO)
        text = b""
        def read():
            global text
            if not select.select([master], [], [], 60)[0]:
                os.kill(child, signal.SIGKILL)
                sys.exit("timeout: " + repr(text))
            text += os.read(master, 4096)
        while b"passphrase of" not in text:
            read()
        silent = not echoes()
        if action.startswith("type:"):
            os.write(master, action[5:].encode().decode("unicode_escape").encode())
        else:
            os.kill(child, getattr(signal, action))
        for _ in range(600):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended: break
            if select.select([master], [], [], 0.1)[0]: text += os.read(master, 4096)
        else:
            os.kill(child, signal.SIGKILL)
            sys.exit("the program did not end")
        end = "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "exit %d" % os.WEXITSTATUS(status)
        print(silent, end, echoes())
        """

    @Test(
        "A signal, and a typed Ctrl-C, end the program and leave a terminal that echoes",
        arguments: [
            ("SIGINT", "signal 2"), ("SIGTERM", "signal 15"), ("SIGHUP", "signal 1"),
            ("type:\\x03", "signal 2"), ("type:wrong\\n", "exit 2"), ("type:sesame\\n", "exit 3"),
        ])
    func signals(action: String, end: String) throws {
        let directory = try TemporaryDirectory()
        let client = try CertificateAuthority.root(name: "Client Authority").issueClient()
        let key = try runProcess(
            ["openssl", "pkcs8", "-topk8", "-passout", "pass:sesame"], input: Array(client.key.pem.utf8))
        let identity = try directory.write(client.certificate.pem + key.output, to: "identity.pem")
        let policy = try directory.write(#"{"version": 1, "hosts": []}"#, to: "policy.json")
        // After the right passphrase the program finds no server.
        let port = try LoopbackTCPServer.http().port
        let result = try runProcess([
            "python3", "-c", Self.script, action, try #require(SpawnedTool.path), "check",
            "https://127.0.0.1:\(port)", "--policy", policy, "--identity", identity,
        ])
        #expect(result.output == "True \(end) True\n", "\(result.errorOutput)")
    }
}
