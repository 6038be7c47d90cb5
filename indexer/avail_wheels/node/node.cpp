// Node properties and their JSON.
#include "indexer/avail_wheels/node/node.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {

using io::Json;

namespace {

// The x86-64 psABI's levels, with Linux flag names (lzcnt is "abm", sse3 is "pni").
struct Level {
    std::string_view name;
    std::string_view flags;
};
constexpr std::array<Level, 4> levels{{
    {"x86-64-v1", "cmov cx8 fpu fxsr mmx sse sse2"},
    {"x86-64-v2", "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"},
    {"x86-64-v3", "avx avx2 bmi1 bmi2 f16c fma abm movbe"},
    {"x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"},
}};

struct Folder {
    std::string_view name;
    std::string_view level;
};
constexpr std::array<Folder, 8> folders{{{"sse3", "x86-64-v1"},
                                         {"avx", "x86-64-v2"},
                                         {"avx2", "x86-64-v3"},
                                         {"avx512", "x86-64-v4"},
                                         {"x86-64-v1", "x86-64-v1"},
                                         {"x86-64-v2", "x86-64-v2"},
                                         {"x86-64-v3", "x86-64-v3"},
                                         {"x86-64-v4", "x86-64-v4"}}};

}  // namespace

std::string x86_level(std::string_view flags) {
    std::vector<std::string_view> have = base::split(flags, ' ');
    std::sort(have.begin(), have.end());
    std::string level;
    for (const auto& one : levels) {
        const auto needed = base::split(one.flags, ' ');
        const bool has_all = std::all_of(needed.begin(), needed.end(), [&](std::string_view flag) {
            return std::binary_search(have.begin(), have.end(), flag);
        });
        if (!has_all) break;
        level = one.name;
    }
    return level;
}

std::string arm_level(std::string_view features) {
    const auto have = base::split(features, ' ');
    if (std::find(have.begin(), have.end(), "sve") != have.end()) return std::string(arm_with_sve);
    return std::string(features.empty() ? std::string_view() : arm_without_sve);
}

std::string level_of_folder(std::string_view folder) {
    const auto* found =
        std::find_if(folders.begin(), folders.end(), [&](const Folder& one) { return one.name == folder; });
    return found == folders.end() ? std::string() : std::string(found->level);
}

Json node_to_json(const Node& node) {
    Json json =
        Json::object({{"format", "wheelyard.node/1"}, {"name", node.name}, {"machine", node.machine}});
    if (node.glibc) json.set("glibc", node.glibc->text());
    if (node.musl) json.set("musl", node.musl->text());
    if (!node.cpu.empty()) json.set("cpu", node.cpu);
    if (node.gpus) {
        json.set("gpus", Json::object({{"archs", Json::array_of(node.gpus->archs)},
                                       {"names", Json::array_of(node.gpus->names)}}));
    }
    if (node.driver) json.set("driver", node.driver->text());
    Json pythons = Json::array();
    for (const auto& python : node.pythons)
        pythons.push(python.full.empty()
                         ? python.text()
                         : (python.pypy ? "pypy" : "") + python.full + (python.free_threaded ? "t" : ""));
    json.set("pythons", std::move(pythons));
    if (!node.python_program.empty()) json.set("python_program", node.python_program);
    if (!node.interpreter.empty()) json.set("interpreter", node.interpreter);
    if (!node.module_folders.empty()) json.set("module_folders", Json::array_of(node.module_folders));
    // A probed node has one Python.
    if (!node.pythons.empty() && node.pythons.front().debug) json.set("debug_python", true);
    if (!node.pythons.empty() && !node.pythons.front().pypy_abi.empty())
        json.set("pypy_abi", node.pythons.front().pypy_abi);
    if (node.modules) json.set("modules", Json::array_of(*node.modules));
    return json;
}

Node node_from_json(const Json& json) {
    Node node;
    node.name = json.string_or("name", {});
    node.machine = json.string_or("machine", {});
    node.glibc = Dotted::parse(json.string_or("glibc", {}));
    node.musl = Dotted::parse(json.string_or("musl", {}));
    node.cpu = json.string_or("cpu", {});
    if (const auto* gpus = json.find("gpus")) node.gpus = Gpus{gpus->texts("archs"), gpus->texts("names")};
    node.driver = Dotted::parse(json.string_or("driver", {}));
    for (const auto& text : json.texts("pythons")) {
        if (auto python = parse_python(text)) node.pythons.push_back(std::move(*python));
    }
    for (auto& python : node.pythons) {
        python.debug = json.bool_or("debug_python", false);
        python.pypy_abi = json.string_or("pypy_abi", {});
    }
    node.python_program = json.string_or("python_program", {});
    node.interpreter = json.string_or("interpreter", {});
    node.module_folders = json.texts("module_folders");
    if (json.find("modules") != nullptr) node.modules = json.texts("modules");
    return node;
}

}  // namespace wheelyard::avail_wheels
