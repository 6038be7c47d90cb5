// Where `import` takes a wheel from, an index or a folder, and what it must hash to. Nothing is taken on
// trust: the hash is the person's, or the page's of an index that nobody on the way can have changed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::registry {

// "torch-2.6.0-cp312-cp312-manylinux_2_28_aarch64.whl", or with "#sha256=…" behind it, as links on an index's
// page have.
struct WheelChoice {
    wheel::WheelFilename name;
    std::string filename;
    std::string sha256;  // lower-case hex; empty: not said
};
// Errors: those of an upload's file name, and "import.hash".
[[nodiscard]] base::Result<WheelChoice> parse_wheel_choice(std::string_view text);

// Whether a page that came from `url` may say what a file hashes to: over https, or from this machine.
[[nodiscard]] bool may_say_hashes(std::string_view url);

struct WheelPlace {
    std::string url;             // empty: it lies in a folder, as
    std::filesystem::path path;  // this file
    std::string sha256;          // what its bytes must hash to
};
// Pure. Errors: "import.not_there", "import.no_hash", "import.hash_differs", "import.yanked".
[[nodiscard]] base::Result<WheelPlace> choose_link(const WheelChoice& choice, const simple::ProjectPage& page,
                                                   const std::string& index_url);

// `from` is the URL of an index (…/simple/), whose pages may lie in a folder (file:///…), or a folder of
// wheels, as a path or as its file URL.
[[nodiscard]] base::Result<WheelPlace> find_wheel(io::HttpClient& http, const std::string& from,
                                                  const WheelChoice& choice);

struct ImportSource {
    std::string from;
    io::HttpSettings http;
};
// `from` as given; empty: the index that this machine's pip would take packages from. "import.no_source":
// there is none. The certificates and the proxy are those of pip's configuration.
[[nodiscard]] base::Result<ImportSource> import_source(const std::string& from);

}  // namespace wheelyard::registry
