// Python source: an import of it ends, and says the same whether the line before is a comment or not.
#include <cstdlib>

#include "lib/inspect/python/import_walk.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::inspect;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto walk = [](const std::string& source) {
        WheelModules wheel;
        wheel.modules["a"] = {true, true, {}};
        wheel.modules["a.b"] = {false, true, {0}};
        wheel.modules["a.c"] = {false, true, {}};
        wheel.read = [&](std::string_view module) { return module == "a.c" ? "import cgi\n" : source; };
        return walk_imports(wheel, {"a"});
    };
    const ImportWalk found = walk(text);
    if (found.foreign.size() > 64 || found.gone.size() > 64) std::abort();
    if (text.starts_with("\xef\xbb\xbf")) return 0;
    const ImportWalk again = walk("# a comment\n" + text);
    if (found.foreign != again.foreign || found.gone != again.gone || found.files != again.files)
        std::abort();
    return 0;
}
