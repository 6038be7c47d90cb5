"""The box's nodes: each has a host name, a /tmp and mounts of its own. Nodes of a site without network there have a link to the login node and to
each other, and nothing else; the login node's loopback, where the registry and the public index listen, is out of their reach.
"""

from pathlib import Path

from support.box.facts import BoxFacts
from support.box.root import hidden_from_nodes, run
from support.farm import BIN, CLIENTS, ROOT

LOGIN = "10.77.0.1"
NODES = {"node1": "10.77.0.11", "node2": "10.77.0.12"}
JOB_DISK = "/localscratch"

# $1: the node's name; $2: what it does not mount; $3: its own disks; $4: what of the checkout lies below /tmp; then the command.
NODE = """hostname "$1" && mkdir -p /run/tmp && mount -t tmpfs -o mode=1777 tmp /run/tmp || exit 1
for place in $4; do mkdir -p "/run$place" && mount --bind "$place" "/run$place" || exit 1; done
mount --move /run/tmp /tmp && mount -t tmpfs cgroup /sys/fs/cgroup && ip link set lo up
for place in $2; do mount -t tmpfs -o ro,mode=0755 away "$place" || exit 1; done
for place in $3; do mount -t tmpfs -o mode=0755 disk "$place" || exit 1; done
shift 4 && exec "$@"
"""


def prepare_nodes(facts: BoxFacts) -> None:
    """Their network, and where the disk of a job is mounted."""
    Path(JOB_DISK).mkdir(exist_ok=True)
    run("ip", "link", "set", "lo", "up")
    run("hostname", "login")
    run("ip", "link", "add", "cluster", "type", "bridge")
    run("ip", "addr", "add", f"{LOGIN}/24", "dev", "cluster")
    run("ip", "link", "set", "cluster", "up")
    Path("/etc/hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in {"login": LOGIN, **NODES}.items()))
    for name, address in NODES.items():
        if not facts.offline:
            run("ip", "addr", "add", f"{address}/24", "dev", "cluster")
            continue
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", "cluster", "up")
        run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")


def becomes_node(facts: BoxFacts, name: str) -> tuple[str, ...]:
    """The words before a command that make its process this node."""
    away = " ".join(place for place in hidden_from_nodes(facts) if Path(place).is_dir())
    disks = [mount.path for mount in facts.mounts if mount.of_a_job and not mount.path.startswith("$") and mount.path != "/tmp"]
    below_tmp = [str(folder) for folder in dict.fromkeys((ROOT, BIN, CLIENTS)) if folder.is_relative_to("/tmp")]
    network = ("ip", "netns", "exec", name) if facts.offline else ()
    return (*network, "unshare", "--mount", "--uts", "sh", "-c", NODE, "node", name, away, " ".join([JOB_DISK, *disks]), " ".join(below_tmp))
