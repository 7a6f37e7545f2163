"""Finds and builds the clients of Examples/clients. Installs nothing."""
import os, pathlib, re, shutil, subprocess

BUILT = pathlib.Path(".build/clients")


class Setup:
    def __init__(self, tool):
        venv = BUILT / "venv/bin/python"
        python = venv if venv.exists() else "python3"
        self.words = {"built": BUILT, "tool": tool, "products": os.path.dirname(tool), "python": python}

    def filled(self, words):
        """Replaces the placeholders of the clients' file. `pintle rehearse` replaces the others."""
        return [re.sub(r"\{(\w+)\}", lambda m: str(self.words.get(m[1], m[0])), word) for word in words]

    def output(self, words, **options):
        standard = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
        return subprocess.run(self.filled(words), **standard | options)

    def missing(self, needs):
        """Returns how to get what the client needs, or None if all is here."""
        modules, programs = needs.get("python", []), needs.get("programs", [])
        if not all(map(shutil.which, programs)) or not all(map(os.path.exists, needs.get("files", []))):
            return "apt-get install " + " ".join(needs["debian"]) if "debian" in needs else "install " + programs[0]
        test = ["{python}", "-c", "".join(f"import {module}\n" for module in modules)]
        if modules and self.output(test, stderr=subprocess.DEVNULL).returncode:
            return f"python3 -m venv {BUILT}/venv && {BUILT}/venv/bin/pip install " + " ".join(modules)
        return None

    def build(self, client):
        """Compiles the client unless its program is newer than its source."""
        source, built = (pathlib.Path(path) for path in self.filled([client["source"], client["built"]]))
        if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
            built.parent.mkdir(parents=True, exist_ok=True)
            self.output(client["build"], check=True)
