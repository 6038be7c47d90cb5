// Pages of Simple repositories, HTML and JSON, projects and roots.
#include <cstdlib>

#include "lib/simple/page.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::simple;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static const auto url = *wheelyard::base::parse_url("https://index.example/simple/foo/");
    for (const char* type : {"text/html", "application/json"}) {
        if (const auto page = parse_project_page(text, type, url)) {
            for (const auto& file : page->files) {
                if (file.filename.empty() || file.filename.find('/') != std::string::npos) std::abort();
                if (!file.sha256.empty() && file.sha256.size() != 64) std::abort();
                if (!wheelyard::base::parse_url(file.url)) std::abort();
            }
        }
        (void)parse_root_page(text, type);
    }
    return 0;
}
