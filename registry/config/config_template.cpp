// What `wheelyard-registry init` writes: a file that works as it is, with every key in it.
#include "registry/config/config.hpp"

namespace wheelyard::registry {

std::string_view config_template() {
    return R"toml(# wheelyard-registry: which indexes there are, where the wheels lie, who is listened to.
# Every key is described in docs/reference/registry-config.md; values shown behind `#` are the defaults.
config_version = 1

[server]
# Loopback only: TLS, here or in a proxy in front, comes before anybody else may reach it.
listen = "127.0.0.1:8080"
# also_listen = ["https://[::]:8443", "unix:run/http.sock"]
# unix_socket_mode = "0660"             # who may connect to unix: addresses
# certificate_file = "tls/chain.pem"     # for https://; SIGHUP reads both again
# certificate_key_file = "tls/key.pem"
# public_url = "https://wheels.example.org"   # how pages name this server; else as it was asked
# trusted_proxies = ["127.0.0.1"]        # whose X-Forwarded-Proto and -Host are believed; "unix" for a Unix socket
# x_accel_redirect = "/wheelyard-files"  # nginx sends the files: its internal location of data/public
# log_requests = false      # a line for each request
# io_threads = 2            # answer requests for pages and files
# upload_threads = 4        # write, hash and check uploads
# max_uploads = 16         # in progress at once, 2 MiB of memory each; more are answered 503
# max_connections = 10000
# header_timeout_s = 30     # a request's header must be complete by then
# idle_timeout_s = 75       # between two requests of one connection
# stall_timeout_s = 60      # a body that makes no progress for this long is cut
# drain_timeout_s = 30      # how long a stop waits for requests under way
# page_wait_s = 60          # how long an upload waits for its page before it answers 503

[store]
# Catalog, wheels and published pages; relative to this file. Keep it on one file system.
directory = "data"

# What agents build because somebody asked for it: docs/reference/task.md.
[tasks]
# lease_s = 3600            # an agent that says nothing for this long has lost its task: several ticks
# max_attempts = 3         # leases that end without an outcome, then the task failed
# kept_days = 90            # a task that ended is removed after so long, with its logs

# One [[index]] per cluster: pip installs from http://HOST:PORT/NAME/simple/
[[index]]
name = "main"
title = "Wheels for everybody"
# max_file_mib = 8192
# inherits = []             # other indexes whose projects this one shows too, in order: ["base"]
# owns = []                 # projects that are this index's alone, never taken from those: ["torch"]
# staging = ""              # another index: wheels of tasks for this one go there, and are promoted from it

# What to do about findings on wheels: a preset ("linux", "manylinux-strict", "mirror"), the site's module tree
# and GPUs, and any rule's severity ("reject", "quarantine", "warn", "note" or "ignore"). `wheelyard-registry check
# --explain all` lists the rules.
# [index.policy]
# preset = "linux"
# rpath_prefixes = ["/cvmfs/soft.example.org"]
# gpu_architectures = ["sm_90"]   # or "gfx90a": what the cluster has
# unpacked_gib = 64               # what all members of a wheel together may unpack to,
# unpacked_ratio = 100            # and how many times its packed size,
# unpacked_ratio_from_mib = 64    # if it is more than this
# "tag.platform_without_elf" = "reject"
)toml";
}

}  // namespace wheelyard::registry
