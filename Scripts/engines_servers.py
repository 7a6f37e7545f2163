"""TLS servers on loopback for engines_audits.py: with the pinned key or another one."""
import socket
import ssl
import threading

from engines_certificates import mint


class Servers:
    def __init__(self, folder):
        self.folder = folder
        self.sockets = []
        self.contexts = {}

    def __enter__(self):
        mint(self.folder)
        self.ports = {name: self.serve(name) for name in ("changed", "right", "wrong", "repaired")}
        with socket.create_server(("127.0.0.1", 0)) as closed:
            self.ports["none"] = closed.getsockname()[1]
        return self

    def write_list(self, names):
        """Writes hosts.txt, in which each name leads to one of the servers, or with `none` to no server."""
        lines = [f"h{number}.audit.test 127.0.0.1:{self.ports[name]}\n" for number, name in enumerate(names)]
        (self.folder / "hosts.txt").write_text("".join(lines))

    def present(self, server, certificate):
        """Makes a server present right.pem or wrong.pem from now on."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{certificate}.pem", self.folder / f"{certificate}.key")
        self.contexts[server] = context

    def serve(self, name):
        self.present(name, "right" if name in ("right", "changed") else "wrong")
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.sockets.append(listener)

        def accept():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=handshake, args=(client,), daemon=True).start()

        def handshake(client):
            try:
                with client, self.contexts[name].wrap_socket(client, server_side=True) as stream:
                    stream.settimeout(10)
                    stream.recv(1)
            except OSError:
                pass

        threading.Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1]

    def __exit__(self, *_):
        for listener in self.sockets:
            listener.close()
