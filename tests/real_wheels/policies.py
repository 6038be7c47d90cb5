"""Which manylinux or musllinux policy our facts fulfil, by auditwheel's own tables and rules: so that its verdict can be
compared with our facts, and not one table with another."""


def policy_family(filename):
    return "musllinux" if "musllinux" in filename else "manylinux"


def is_loader(library):
    """The dynamic linker of glibc: there wherever glibc is, so auditwheel counts neither it nor its versions."""
    return "ld-linux" in library or library in ("ld64.so.1", "ld64.so.2")


def policies_of(table, machine):
    """Most portable first. Of musllinux auditwheel considers the newest alone: musl versions no symbols."""
    policies = sorted((policy for policy in table if policy["name"] != "linux" and machine in policy["symbol_versions"]),
                      key=lambda policy: -policy["priority"])
    return policies[-1:] if policies and policies[0]["name"].startswith("musllinux") else policies


def best_policy(table, machine, elf_files, external_libraries):
    """The most portable policy that allows every needed symbol version and every library from outside (None: not asked)."""
    needed = {}
    for elf in elf_files:
        for library, versions in elf["version_needs"].items():
            for version in versions if not is_loader(library) else ():
                needed.setdefault(version.partition("_")[0], set()).add(version.partition("_")[2])
    libraries = {"libc.so" if library.startswith("libc.musl-") else library
                 for library in external_libraries or () if not is_loader(library)}
    for policy in policies_of(table, machine):
        allowed = policy["symbol_versions"][machine]
        if all(needed[name] <= set(allowed[name]) for name in needed if name in allowed) and libraries <= set(policy["lib_whitelist"]):
            return f"{policy['name']}_{machine}"
    return f"linux_{machine}"
