#include "lib/inspect/truth/module_suffix.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/inspect/truth/libraries.hpp"

namespace wheelyard::inspect {
namespace {

constexpr unsigned first_minor_with_musl = 11;

// "cp312" → 12, "cp313t" → 13.
std::optional<unsigned> cpython_minor(std::string_view abi) {
    constexpr std::string_view cpython_3 = "cp3";
    if (!abi.starts_with(cpython_3)) return std::nullopt;
    abi.remove_prefix(cpython_3.size());
    const auto minor = base::parse_decimal(abi.substr(0, abi.find_first_not_of("0123456789")));
    return minor ? std::optional(static_cast<unsigned>(*minor)) : std::nullopt;
}

std::string_view last_word(std::string_view platform) {
    return platform.substr(platform.rfind('-') + 1);
}

}  // namespace

std::string ModuleSuffix::machine() const {
    struct Row {
        std::string_view prefix, machine;
    };
    static constexpr Row rows[] = {
        {"x86_64-linux", "x86_64"},           {"aarch64-linux", "aarch64"}, {"i386-linux", "i686"},
        {"powerpc64le-linux", "ppc64le"},     {"s390x-linux", "s390x"},     {"riscv64-linux", "riscv64"},
        {"loongarch64-linux", "loongarch64"}, {"arm-linux", "armv7l"}};
    for (const Row& row : rows)
        if (platform.starts_with(row.prefix)) return std::string(row.machine);
    return {};
}

bool ModuleSuffix::names_musl() const {
    return last_word(platform).starts_with("musl");
}

bool ModuleSuffix::names_glibc() const {
    const auto minor = cpython_minor(abi);
    return minor && *minor >= first_minor_with_musl && last_word(platform).starts_with("gnu");
}

std::optional<ModuleSuffix> module_suffix(std::string_view path) {
    std::string_view file = base::base_name(path);
    if (!file.ends_with(".so")) return std::nullopt;
    file.remove_suffix(3);
    const auto dot = file.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view part = file.substr(dot + 1);
    if (part == "abi3" || part == "abi3t") return ModuleSuffix{std::string(part), {}};
    constexpr std::string_view cpython = "cpython-", pypy = "pypy";
    if (part.starts_with(cpython)) {
        const std::string_view rest = part.substr(cpython.size());
        const std::size_t dash = std::min(rest.find('-'), rest.size());
        const std::string_view platform = dash < rest.size() ? rest.substr(dash + 1) : std::string_view();
        return ModuleSuffix{"cp" + std::string(rest.substr(0, dash)), std::string(platform)};
    }
    if (part.starts_with(pypy) && part.find("-pp") != std::string_view::npos) {
        const std::size_t second = part.find('-', part.find('-') + 1);
        const std::string_view platform =
            second == std::string_view::npos ? std::string_view() : part.substr(second + 1);
        return ModuleSuffix{base::replace_all(part.substr(0, second), "-", "_"), std::string(platform)};
    }
    return std::nullopt;
}

}  // namespace wheelyard::inspect
