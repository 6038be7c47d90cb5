// Where `import` takes a wheel from, an index or a folder, and its expected hash. The hash always comes from
// the command line or from an index page that nobody can have changed in transit.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/files/fd.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"
#include "registry/intake/validation.hpp"

namespace wheelyard::registry {

// "torch-2.6.0-cp312-cp312-manylinux_2_28_aarch64.whl", or an sdist's name, optionally followed by
// "#sha256=…" as in the links of an index page.
struct WheelChoice {
    UploadName name;
    std::string filename;
    std::string sha256;  // lower-case hex; empty: not given
};
// Errors: those of an upload's file name to an index with this policy, and "import.hash".
[[nodiscard]] base::Result<WheelChoice> parse_wheel_choice(std::string_view text,
                                                           const inspect::Policy& policy = {},
                                                           AcceptedFiles accepted = AcceptedFiles::wheels);

// Says whether a page from `url` is trusted for hashes: over https, or from this machine.
[[nodiscard]] bool may_say_hashes(std::string_view url);

struct FoundWheel {
    std::string url;             // empty: the wheel is the local file `path`
    std::filesystem::path path;  // set if `url` is empty
    std::string sha256;          // expected hash of its bytes
};
// Pure. Errors: "import.not_there", "import.no_hash", "import.hash_differs", "import.yanked".
[[nodiscard]] base::Result<FoundWheel> choose_link(const WheelChoice& choice, const simple::ProjectPage& page,
                                                   const std::string& index_url);

// `from` is the URL of an index (…/simple/), a file:/// URL of a folder with such pages, or a folder of
// wheels as a path or file:/// URL.
[[nodiscard]] base::Result<FoundWheel> find_wheel(io::HttpClient& http, const std::string& from,
                                                  const WheelChoice& choice);

struct ImportSource {
    std::string from;
    io::HttpSettings http;
};
// `from` as given; if empty, the index that pip on this machine is configured with, together with pip's proxy
// and certificates. Error "import.no_source": there is none.
[[nodiscard]] base::Result<ImportSource> import_source(const std::string& from);

// The folder `import-XXXXXX` in the store that receives what `import` downloads; its destructor removes it.
// The next import or server start removes folders that killed imports left behind.

class ImportFolder {
  public:
    [[nodiscard]] static base::Result<ImportFolder> make(const std::filesystem::path& store);
    [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

  private:
    ImportFolder(base::TempDir folder, base::Fd lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
    base::TempDir folder_;
    base::Fd lock_;
};

// Removes the folders of dead imports, never those in use. Failures are logged and skipped.
void remove_left_import_folders(const std::filesystem::path& store);

}  // namespace wheelyard::registry
