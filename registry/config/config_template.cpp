// The configuration that `wheelyard-registry init` writes: valid as it is, with every key in it.
#include <algorithm>

#include "lib/base/text/text.hpp"
#include "registry/config/config.hpp"
#include "registry/config/config_place.hpp"
#include "registry/config/index_keys.hpp"

namespace wheelyard::registry {
namespace {

// Up to the keys of the first [[index]], and after them.
constexpr std::string_view before_keys =
    R"toml(# Configuration of wheelyard-registry: listening addresses, storage, indexes and their policies.
# docs/reference/registry-config.md describes every key. Commented-out values are the defaults.
config_version = 1

[server]
# Loopback only by default. Set up TLS, here or in a proxy, before you listen on other addresses.
listen = "127.0.0.1:8080"
# also_listen = ["https://[::]:8443", "unix:run/http.sock"]
# unix_socket_mode = "0660"             # permissions of unix: sockets
# certificate_file = "tls/chain.pem"     # for https://; SIGHUP reloads both files
# certificate_key_file = "tls/key.pem"
# public_url = "https://wheels.example.org"   # base of absolute URLs, maybe with a path; default: the request's host
# trusted_proxies = ["127.0.0.1"]        # say of their clients what is in trusted_fields; "unix": any Unix-socket peer
# trusted_fields = ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"]   # X-Forwarded-Prefix if they set it
# x_accel_redirect = "/wheelyard-files"  # nginx sends the files: its internal location for data/public
# log_requests = false      # one log line per request
# io_threads = 2            # threads that serve pages and files
# upload_threads = 4        # threads that write, hash and check uploads
# max_uploads = 16         # concurrent uploads, 2 MiB of memory each; beyond this the server answers 503
# max_token_uploads = 8     # of them, of one token; default: half of max_uploads
# max_connections = 10000
# header_timeout_s = 30     # time for a complete request header
# idle_timeout_s = 75       # time between two requests of one connection
# stall_timeout_s = 60      # a body without progress for this long is aborted
# drain_timeout_s = 30      # time that a shutdown waits for requests in progress
# page_wait_s = 60          # time that an upload waits for its page before it answers 503

[store]
# Catalog, wheels and published pages; relative to this file. Must be on one file system.
directory = "data"
# pages = true              # the web UI in the published tree: search, projects, builds
# min_free_mib = 64         # uploads end while this much is free on the disk; as much is kept for administrators
# scrub_mib_per_s = 8       # stored wheels are read and compared with their hashes all the time; 0: never

# Stores outside of the data folder, for when one machine is not enough. See docs/reference/registry-config.md.
[stores]
# database = ""             # "postgres://wheelyard@db.example.org/wheelyard?sslmode=verify-full"; "": SQLite in the folder
# database_password_file = "secrets/database"
# blobs = ""                # "s3://BUCKET/PREFIX"; "": files in the folder
# blobs_endpoint = "https://s3.example.org"
# blobs_public_endpoint = ""            # for clients, which then get files from the store itself
# blobs_region = "us-east-1"
# blobs_path_style = false              # true: the bucket is part of the path, not of the host's name
# blobs_credentials_file = "secrets/s3"

# This server among several over one database. See docs/how-to/several-nodes.md.
[node]
# name = "node-a"           # for people; the machine's name
# address = "http://node-a.example.org:8080"    # where other nodes send uploads; "": this is the only server
# lease_s = 6               # how long uploads wait for a node that died
# read_without_database_s = 0    # how long nodes go on reading while the database is away; 0: until their leases end

# How the web UI looks.
[pages]
# name = "Wheels of Bede"   # in the header of every page
# text = ""                 # what this farm is, on the front page
# contact = ""              # a URL or an address of electronic mail, on the front page
# colour = "#0b57a4"        # of links, in light; it must be readable
# colour_dark = "#8fc0f8"   # of links, in dark
# logo = "logo.svg"         # a file .svg or .png, at most 64 KiB

# Tasks: wheels that users request and agents build. See docs/reference/task.md.
[tasks]
# lease_s = 3600            # an agent that does not renew its lease in this time loses the task
# max_attempts = 3         # leases without an outcome before the task fails
# kept_days = 90            # ended tasks and their logs are removed after this time

# Who is told what a person should know. See docs/reference/notices.md.
[notify]
# command = ""              # for /bin/sh; gets each notice as JSON on standard input

# People log in by a provider of OpenID Connect (Keycloak, GitLab, Entra ID …). See docs/how-to/log-in.md.
# [[identity]]
# name = "campus"
# title = "University account"
# issuer = "https://idp.example.org/realms/campus"
# client_id = "wheelyard"
# client_secret_file = "secrets/campus"   # without it the client is a public one
# scopes = ["openid", "profile"]
# groups_claim = "groups"
# hosts = []                      # more hosts that the provider's addresses are on
# reading_days = 7                # life of a token for reading and requests
# publishing_minutes = 15         # life of a token for anything else
# allow_private = false           # true: the provider has an address inside the site
# allow_http = false              # true: also over http, for tests

# What a group may do; of several rules that fit a person the first decides. `everyone = true` instead of `group`.
# [[identity.allow]]
# group = "/hpc"
# everyone = false
# indexes = ["*"]
# projects = ["*"]
# actions = ["read", "task"]

# Jobs of continuous integration upload with an identity token of their provider. See docs/how-to/publish-from-ci.md.
# [[publisher]]
# name = "tool"
# issuer = "https://token.actions.githubusercontent.com"
# audience = "wheels.example.org"   # without it the host of public_url
# index = "main"
# projects = ["tool"]
# claims = { repository = "octo-org/tool", ref = "refs/tags/*" }   # exact texts; only a ref may end in *
# azp = "ci"                      # the client that asks for the tokens of a service account; without it they are for us alone
# pull_requests = false           # true: also jobs of pull requests and merge requests
# hosts = []                      # as those of [[identity]]
# allow_private = false
# allow_http = false

# Signed statements about wheels that agents built, and signed indexes: `wheelyard-registry attest init` makes the keys.
[attest]
# key = "provenance.key"    # PEM; without it nothing is signed
# signer = ""               # URI of this registry in statements; without it server.public_url
# service_accounts = []     # IDs of tokens, agent:SITE of enrolled agents, that run as a service account: SLSA level 2
# history = 1               # after a restore from a backup: what `wheelyard-registry attest new-history` prints
# index_valid_days = 7      # for so long a signed state of an index is valid; it is signed again each day
# trusted_root = "trusted_root.json"  # whose uploaded attestations count; without it Sigstore's public instance

# One [[index]] per cluster: pip installs from http://HOST:PORT/NAME/simple/
[[index]]
name = "main"
title = "Wheels for everybody"
)toml";

constexpr std::string_view after_keys = R"toml(
# Whose files alone this index takes: of publishers, by their attestations (PEP 740), and of agents.
# [[index.attested_by]]
# projects = ["demo"]
# issuer = "https://token.actions.githubusercontent.com"
# repository = "https://github.com/octo-org/demo"
# workflow = ".github/workflows/release.yml"
# subject = "https://github.com/octo-org/demo/.github/workflows/release.yml@refs/tags/*"
# [[index.attested_by]]
# agents = ["agent:bede-gh200"]   # names of agents that enrolled and IDs of tokens, whose uploads say what made the wheel; "*": any

# Wheels to request of each source distribution that is uploaded to this index; somebody approves each request.
# [[index.build]]
# index = "main"                  # the index whose site builds them
# pythons = ["3.11"]
# accelerators = []               # names of the site's; empty: a wheel without one

# Other indexes whose projects this one also offers: asked in order for what no index here has or owns.
# [[index.upstream]]
# name = "public"
# url = "https://index.example.org/simple/"
# hosts = ["files.example.org"]   # more hosts that its links and redirects may name
# private_hosts = []              # hosts that may have private addresses, and may be asked over http
# allow = []                      # projects, as globs; empty: all
# deny = ["our-*"]
# cooldown_days = 0               # files younger than this are not offered ...
# cooldown_except = []            # ... but those of these projects are
# max_cache_mib = 0               # fetched files that are kept, the last used ones; 0: all
# proxy = ""
# username = "reader"             # sent to the host of `url` only
# password_file = "secrets/reader"
# inspect_first = false           # true: nothing of a file is sent before it is inspected

# What to do about findings in wheels of this upstream: the keys of [index.policy]; its default preset is "mirror".
# [index.upstream.policy]
# "gpu.architecture_missing" = "quarantine"

# What to do about findings in wheels: a preset ("linux", "manylinux-strict", "mirror"), the site's module tree
# and GPUs, and the severity of single rules ("reject", "quarantine", "warn", "note" or "ignore").
# `wheelyard-registry check --explain all` lists the rules.
# [index.policy]
# preset = "linux"
# rpath_prefixes = ["/cvmfs/soft.example.org"]
# gpu_architectures = ["sm_90"]   # GPU architectures of the cluster; also "gfx90a"
# licenses = []                   # the only ones that License-Expression may need: ["MIT", "BSD-3-Clause"]; empty: any
# unpacked_gib = 64               # maximum unpacked size of a wheel
# unpacked_ratio = 100            # maximum ratio of unpacked to packed size ...
# unpacked_ratio_from_mib = 64    # ... for wheels that unpack to more than this
# "tag.platform_without_elf" = "reject"

# Agents of this server's version, for pip: the Debian package's unit imports its wheels into this index.
# [[index]]
# name = "tools"
# title = "Wheelyard's programs for clusters and users"
)toml";

constexpr std::size_t comment_column = 28;

}  // namespace

std::string config_template() {
    std::string text(before_keys);
    for (const IndexKey& key : index_keys()) {
        if (key.meaning.empty()) continue;
        std::string line = "# " + std::string(key.name) + " = " + key.show({});
        line.resize(std::max(line.size() + 1, comment_column), ' ');
        text.append(line).append("# ").append(key.meaning).append("\n");
    }
    return text.append(after_keys);
}

std::string initial_config(const std::filesystem::path& folder) {
    std::string text = config_template();
    if (!is_system_folder(folder)) return text;
    text = base::replace_all(text, "\ndirectory = \"data\"\n", "\ndirectory = \"/var/lib/wheelyard\"\n");
    // The last lines: what the unit imports.
    const std::size_t tools = text.rfind("# [[index]]\n");
    return text.substr(0, tools) + base::replace_all(text.substr(tools), "# ", "");
}

}  // namespace wheelyard::registry
