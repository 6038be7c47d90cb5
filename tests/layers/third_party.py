"""Which file may include which library from outside: one wrapper each, so that a library can be replaced in one place."""

# (what the header's path looks like, where it may be included, the library)
OUTSIDE_HEADERS = [
    (r"curl/", r"lib/io/curl_library\.hpp", "libcurl"),
    (r"archive(_entry)?\.h", r"lib/io/archive(\.cpp|_entry\.hpp)|tests/io/archive_test\.cpp", "libarchive"),
    (r"nlohmann/", r"lib/io/json\.cpp", "nlohmann-json"),
    (r"toml\+\+/", r"lib/io/toml(_tree)?\.cpp", "toml++"),
    (r"sqlite3\.h", r"lib/store/engine/sqlite/sqlite\.cpp", "SQLite"),
    (r"libpq-fe\.h", r"lib/store/engine/postgres/libpq\.hpp", "libpq"),
    # These headers are the server's own parts; server.hpp, which the rest includes, shows nothing of Boost.
    (r"boost/", r"registry/http/(asio_impl|request_head)\.cpp|registry/server/([^/]+\.cpp|(client_socket|connection|io_loop|page_wait|pool_job)\.hpp)", "Boost.Beast and Asio"),
    (r"(zlib|isa-l|igzip_lib)(/|\.h)", r"lib/inspect/zip/inflate\.cpp|lib/io/gzip\.cpp|tests/(support/(wheel|sdist)_writer|fuzz/inflate_fuzz)\.cpp", "zlib"),
    (r"zstd(_errors)?\.h", r"lib/(inspect/zip/zstd_stream|io/zstd)\.cpp", "zstd"),
    (r"openssl/", r"lib/base/digest/[^/]+\.cpp|lib/attest/(keys|sigstore/certificate)\.cpp|registry/(server/tls|identity/(signature|seal))\.cpp", "OpenSSL"),
    (r"CLI/", r"(.*/)?(main|cli|commands)\.cpp|registry/commands/[^/]+\.cpp|tests/registry/commands/(command|token)_test\.cpp", "CLI11"),
    (r"cmark-gfm(-core-extensions)?\.h", r"indexer/web/markdown\.cpp", "cmark-gfm"),
    (r"tl/expected\.hpp", r".*", "tl-expected, the value type of every module"),
    (r"doctest/", r"tests/.*", "doctest"),
]
