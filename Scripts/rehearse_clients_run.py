"""Runs `pintle rehearse` with a client of Examples/clients."""
import json, pathlib, re, subprocess, sys

from rehearse_clients_setup import Setup

OUTCOMES = {"let-through": "letThrough", "blocked": "blocked", "held": "unfinished", "inconclusive": "unfinished"}


class Bench(Setup):
    def attacks(self):
        """Returns the ids of the attacks that can be run, the right server first, in the order of the tool."""
        listed = json.loads(self.output(["{tool}", "rehearse", "--list", "--json"], check=True).stdout)
        return [attack["id"] for attack in listed if "expected" in attack]

    def system(self):
        names = dict(re.findall(r'^(\w+)="?(.*?)"?$', pathlib.Path("/etc/os-release").read_text(), re.M))
        return names.get("PRETTY_NAME", "an unknown system")

    def result(self, client):
        """Returns the version and the attacks that did not end as they must, or how to get a client that is missing."""
        if missing := self.missing(client["needs"]):
            return {"missing": missing}
        if "build" in client:
            self.build(client)
        version = self.output(client["version"]["command"], stderr=subprocess.STDOUT).stdout
        found = {"version": re.search(client["version"]["pattern"], version)[1], "run": 0}
        found |= {kind: [] for kind in OUTCOMES.values()}
        words = ["{tool}", "rehearse", "--json", *client.get("options", []), "--", *client["run"]]
        rows = json.loads(self.output(words, stderr=subprocess.PIPE).stdout)
        if isinstance(rows, dict):  # an error; only that the client refuses the right server is a result
            if rows["error"]["code"] != "control-failed":
                sys.exit(f"clients: error: {client['id']}: {rows['error']['message']}")
            return found | {"blocked": ["control"]}
        rows = [row for row in rows if row["outcome"] != "not-run" and row["id"] != "control"]
        for row in [row for row in rows if not row["isAsItMustBe"]]:
            found[OUTCOMES[row["outcome"]]].append(row["id"])
        return found | {"run": len(rows)}
