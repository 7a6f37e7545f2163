#!/usr/bin/env python3
"""Writes Specification/vectors from the tables in vectors_*.py. With --check it only compares, byte for byte.

The author of the tables had the text of Specification, and wrote each `expect` from its rules. Nothing here computes one. The check
also asks decision.py about the states of the decision and of the question: two readings of one text have to agree.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
import decision
import vectors_decision
import vectors_hosts
import vectors_policy
import vectors_update

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Specification", "vectors")
TABLES = (vectors_update, vectors_policy, vectors_hosts, vectors_decision)


def text(vector):
    return "{\n" + ",\n".join("  %s: %s" % (json.dumps(key), json.dumps(value)) for key, value in vector.items()) + "\n}\n"


def files():
    made = {}
    for table in TABLES:
        for name, vector in table.VECTORS:
            if name + ".json" in made:
                sys.exit("two vectors are called %s" % name)
            made[name + ".json"] = text(vector)
    return made


def stored():
    found = {}
    for folder, _, names in os.walk(FOLDER):
        for path in (os.path.join(folder, name) for name in names if name != "README.md"):
            with open(path, encoding="utf-8", newline="") as file:
                found[os.path.relpath(path, FOLDER)] = file.read()
    return found


def disagreements():
    """The vectors whose answer is not that of the model."""
    for name, vector in vectors_decision.VECTORS:
        expect = vector["expect"]
        if name.startswith("chains/"):
            certificates = [{"bytes": c["bytes"], "names": c["names"], "tooManyParts": False, "unreadable": c["kind"] != "readable"}
                            for c in vector["certificates"] for _ in range(c["count"])]
            code, kept = decision.read_chain(certificates)
            agrees = expect == ({"answer": "failure", "code": code} if code else {"answer": "readable", "certificates": kept})
        else:
            state = {field: decision.read_field(field, value) for field, value in vector.items() if field not in ("rule", "rules")}
            state["rules"] = [decision.read_rule(rule) for rule in vector["rules"]]
            if name.startswith("decision/"):
                agrees = expect == decision.show("decision", decision.decide(state)[:3])
            else:
                state.update(stored="changed" if vector["changedMeanwhile"] else "same", earlier=decision.own_approval(state) is not None,
                             complete=vector["recordIsComplete"], told=vector["userWasTold"], answerTime=vector["now"])
                accepts = decision.accepts_of_answer(state, vector["subject"], vector["shown"]) if decision.is_stored(state) else None
                unacceptable = decision.unacceptable(state)
                agrees = expect == {"answer": "refused" if accepts is None else "approved", "unacceptable": unacceptable and unacceptable[1],
                                    "exceptions": sorted(decision.exceptions(state)), "accepts": None if accepts is None else sorted(accepts)}
        if not agrees:
            yield name


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    made, found = files(), stored()
    differing = sorted(name for name in made.keys() | found.keys() if made.get(name) != found.get(name))
    if arguments:
        for name in differing:
            print("Specification/vectors/%s: differs from what Models/vectors.py writes" % name)
        against = list(disagreements())
        for name in against:
            print("Specification/vectors/%s.json: Models/decision.py has another answer" % name)
        sys.exit(1 if differing or against else 0)
    for name in differing:
        path = os.path.join(FOLDER, name)
        if name not in made:
            os.remove(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(made[name])
    print("%d vectors, %d files written or removed" % (len(made), len(differing)))


if __name__ == "__main__":
    main(sys.argv[1:])
