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
        wheel.read = [&](std::string_view module) {
            return module == "a.c" ? "def load(*x):\n  CDLL(x)\n" : source;
        };
        wheel.own_libraries = [](const std::vector<std::string>&) { return std::vector<std::size_t>(); };
        return walk_imports(wheel, {"a"});
    };
    const ImportWalk found = walk(text);
    if (found.opened.size() > 64 || found.gone.size() > 64) std::abort();
    if (text.starts_with("\xef\xbb\xbf")) return 0;
    const ImportWalk again = walk("# a comment\n" + text);
    if (found.opened != again.opened || found.gone != again.gone || found.files != again.files) std::abort();
    return 0;
}
