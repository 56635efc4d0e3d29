"""Two machines on this one: two network namespaces with a cable (veth) between them.

Needs no privilege but a user namespace, which some systems forbid: `TwoMachines.why_not()`.
"""

import shutil
import subprocess
import time

ADDRESSES = ("10.77.0.1", "10.77.0.2")
TOOLS = ("unshare", "nsenter", "ip")


class TwoMachines:
    def __init__(self):
        self.holders = []  # a process that holds each namespace
        try:
            self.holders.append(_hold(["unshare", "--user", "--map-root-user", "--net"]))
            self.holders.append(_hold([*self.at(0), "unshare", "--net"]))
            cable = f"link add left type veth peer name right netns {self.holders[1].pid}"
            self._ip(0, cable)
            for machine, end in enumerate(("left", "right")):
                self._ip(machine, f"addr add {ADDRESSES[machine]}/24 dev {end}")
                self._ip(machine, f"link set {end} up")
                self._ip(machine, "link set lo up")
        except BaseException:
            self.close()
            raise

    def at(self, machine):
        """The words before a command that make it run on a machine."""
        pid = str(self.holders[machine].pid)
        return ["nsenter", "--target", pid, "--user", "--net", "--preserve-credentials"]

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.communicate()

    def _ip(self, machine, words):
        subprocess.run(
            [*self.at(machine), "ip", *words.split()], check=True, capture_output=True, text=True
        )

    @staticmethod
    def why_not():
        """Why this system has no such machines; None: it has."""
        missing = [tool for tool in TOOLS if shutil.which(tool) is None]
        if missing:
            return f"{', '.join(missing)} missing; scripts/bootstrap --tests (iproute2, util-linux)"
        try:
            TwoMachines().close()
        except subprocess.CalledProcessError as error:
            return error.stderr.strip() or str(error)
        except OSError as error:
            return str(error)
        return None


def _hold(words):
    """A process that does nothing in namespaces of its own; they are there when it says so."""
    process = subprocess.Popen(
        [*words, "sh", "-c", "echo there; exec sleep infinity"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if process.stdout.readline() != "there\n":
        time.sleep(0.1)
        process.kill()
        raise subprocess.CalledProcessError(1, words, stderr=process.stderr.read())
    return process
