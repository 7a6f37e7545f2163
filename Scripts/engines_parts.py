"""Runs an audit in ten parts, with the shell lines of Examples/audit-at-scale/job.yaml, for engines_audits.py."""
import os
import pathlib
import re
import subprocess

EXAMPLE = pathlib.Path("Examples/audit-at-scale")
PARTS = 10


def shell_lines():
    """Returns the script of job.yaml."""
    text = (EXAMPLE / "job.yaml").read_text()
    block = re.search(r"args:\n +- \|\n((?: {14}.*\n)+)", text).group(1)
    return "".join(line[14:] + "\n" for line in block.splitlines())


def accepted_codes(folder):
    """Returns the exit codes of pintle with which a part succeeds, of the job and of the workflow."""
    text = (EXAMPLE / "workflow.yml").read_text()
    step = re.search(r"- run: \|\n((?: {10}.*\n)+?) {8}shell", text).group(1)
    tool = folder / "codes"
    tool.mkdir()

    def succeeds(script, code):
        (tool / "pintle").write_text(f"#!/bin/sh\nexit {code}\n")
        (tool / "pintle").chmod(0o755)
        return subprocess.run(["sh", "-ec" if script is step else "-c", script], cwd=folder, env={
            "PATH": f"{tool}:{os.environ['PATH']}", "AUDIT": str(tool), "PARTS": "1", "JOB": "codes",
            "JOB_COMPLETION_INDEX": "0", "PART": "1"}).returncode == 0
    return [[code for code in (0, 1, 2, 3, 127, 137) if succeeds(script, code)] for script in (shell_lines(), step)]


def audit(tool, folder, name):
    """Runs all parts with a tool."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    (tools / "pintle").write_text(f"#!/bin/sh\nexec '{tool}' \"$@\" --anchors '{folder}/root.pem'\n")
    (tools / "pintle").chmod(0o755)
    for index in range(PARTS):
        subprocess.run(["sh", "-c", shell_lines()], check=True, timeout=120, env={
            **os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "AUDIT": str(folder), "PARTS": str(PARTS),
            "JOB": name, "JOB_COMPLETION_INDEX": str(index)})
