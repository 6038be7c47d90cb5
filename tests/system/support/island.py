"""A network namespace that has nothing but loopback: the registry starts there, and a command runs beside it. Nothing outside can be
reached from either."""

import os
import shutil
import subprocess
import sys

from support.farm import BIN, COMMAND_TIMEOUT_S, Farm

NO_NETWORK = ["unshare", "--map-root-user", "--net"]
CAN_CUT = bool(shutil.which("unshare")) and subprocess.run(
    [*NO_NETWORK, "/bin/sh", "-c", "PATH=/usr/sbin:/sbin:$PATH ip link set lo up"], capture_output=True, check=False).returncode == 0
WHY_NOT = "this machine does not allow a network namespace (unshare, ip)"
# Starts the registry, waits for it, and runs the rest of the arguments beside it.
ISLAND = """PATH=/usr/sbin:/sbin:$PATH; ip link set lo up || exit 99
"$1" serve --config "$2" --ready-file "$3" & server=$!; shift 2; ready=$1; shift
while [ ! -s "$ready" ]; do kill -0 $server || exit 98; sleep 0.05; done
"$@"; status=$?; kill $server; wait $server; exit $status"""


def on_island(farm: Farm, *command, environment: dict[str, str] | None = None,
              timeout: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess:
    """Stops the farm, and runs the command beside its registry in such a namespace."""
    farm.stop()
    farm.ready_file.unlink(missing_ok=True)
    return subprocess.run([*NO_NETWORK, "/bin/sh", "-c", ISLAND, "sh", BIN / "wheelyard-registry", farm.config, farm.ready_file,
                           *map(str, command)], env=environment or farm.environment, capture_output=True, text=True, timeout=timeout)


def move_to_island() -> None:
    """Starts this program again in such a namespace; root keeps its own powers."""
    if os.environ.get("WHEELYARD_ISLAND"):
        return
    os.environ["WHEELYARD_ISLAND"] = "1"
    way = ["unshare", "--net"] if os.geteuid() == 0 else NO_NETWORK
    os.execvp("unshare", [*way, "/bin/sh", "-c", 'PATH=/usr/sbin:/sbin:$PATH; ip link set lo up; exec "$@"', "sh",
                          sys.executable, "-B", *sys.argv])
