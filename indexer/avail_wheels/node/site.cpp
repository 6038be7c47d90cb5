// Strict reader of the site file, and --assume, which sets the same properties.
#include "indexer/avail_wheels/node/site.hpp"

#include <algorithm>
#include <utility>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/toml.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr std::int64_t newest_config_version = 1;
constexpr std::string_view no_gpu = "none";

const std::vector<std::string>& cpu_levels() {
    static const std::vector<std::string> levels{"x86-64-v1",
                                                 "x86-64-v2",
                                                 "x86-64-v3",
                                                 "x86-64-v4",
                                                 std::string(arm_without_sve),
                                                 std::string(arm_with_sve)};
    return levels;
}

void set_dotted(io::TomlTable& table, std::string_view key, std::optional<Dotted>& into) {
    const auto text = table.string_if(key);
    if (!text) return;
    into = Dotted::parse(*text);
    if (!into) table.report(key, "is not a version of numbers and dots: " + *text);
}

NodeType read_node(io::TomlTable table, const std::string& name) {
    NodeType type;
    type.node.name = name;
    type.hosts = table.strings_or("hosts", {});
    type.index_url = table.string_or("index_url", {});
    type.node.machine = table.string_or("machine", {});
    if (table.has("cpu")) type.node.cpu = table.choice_or("cpu", {}, cpu_levels());
    set_dotted(table, "glibc", type.node.glibc);
    set_dotted(table, "driver", type.node.driver);
    if (table.has("gpus")) {
        type.node.gpus = Gpus{};
        for (const auto& text : table.strings_or("gpus", {})) {
            const auto arch = parse_gpu(text);
            if (!arch)
                table.report("gpus", "is not a GPU architecture such as " +
                                         accelerator::list_kinds("{example}", " or ") + ": " + text);
            type.node.gpus->archs.push_back(arch.value_or(text));
        }
    }
    if (table.has("modules")) type.node.modules = table.strings_or("modules", {});
    type.has_pythons = table.has("pythons");
    for (const auto& text : table.strings_or("pythons", {})) {
        auto python = parse_python(text);
        if (!python) {
            table.report("pythons", "is not a Python 3 version: " + text);
            continue;
        }
        type.node.pythons.push_back(std::move(*python));
    }
    return type;
}

KnownBad read_known_bad(io::TomlTable table) {
    KnownBad bad;
    bad.project = wheel::normalize_name(table.string("package"));
    auto versions = wheel::SpecifierSet::parse(table.string("versions"));
    if (versions) {
        bad.versions = std::move(*versions);
    } else {
        table.report("versions", "is not a specifier set such as \"<2.3\": " + versions.error().value);
    }
    for (const auto& text : table.strings_or("gpus", {}))
        bad.gpus.push_back(parse_gpu(text).value_or(text));
    bad.reason = table.string_or("reason", {});
    bad.advice = table.string_or("advice", {});
    return bad;
}

}  // namespace

base::Result<Site> read_site(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::read(file));
    io::TomlTable root = document.root();
    if (root.has("state") && root.has("work"))
        return base::fail("site.other_program",
                          "This is a site file of wheelyard-builder, not one of avail_wheels", file.string(),
                          "name an avail_wheels.toml with --site or in WHEELYARD_SITE");
    Site site;
    (void)root.integer("config_version", newest_config_version, newest_config_version);
    site.index_url = root.string_or("index_url", {});
    site.wheelhouse = root.path_if("wheelhouse").value_or(std::filesystem::path());
    site.here = root.boolean_or("here", false);
    site.python_module = root.string_or("python_module", {});
    site.needed_modules = root.strings_or("needed_modules", {});
    site.status = root.string_or("status", {});
    const std::string requests = root.string_or("requests", {});
    if (requests.starts_with("http://") || requests.starts_with("https://")) {
        site.requests_registry = requests.substr(0, requests.find_last_not_of('/') + 1);
    } else {
        site.requests = root.path_if("requests").value_or(std::filesystem::path());
    }
    io::TomlTable nodes = root.table_or_empty("node");
    for (const auto& name : nodes.keys())
        site.nodes.emplace(name, read_node(nodes.table(name), name));
    for (auto& table : root.tables("known_bad"))
        site.known_bad.push_back(read_known_bad(std::move(table)));
    WHEELYARD_TRY(document.finish());
    return site;
}

std::optional<std::string> parse_gpu(std::string_view text) {
    for (const auto* kind : accelerator::accelerator_kinds()) {
        if (auto arch = kind->parse_gpu(text); !arch.empty()) return arch;
    }
    const std::string name = base::ascii_lower(text);
    for (const auto* kind : accelerator::accelerator_kinds()) {
        for (const auto& model : kind->models) {
            if (model.name == name) return std::string(model.architecture);
        }
    }
    return std::nullopt;
}

std::string_view machine_called(std::string_view name) {
    struct Machine {
        std::string_view elsewhere, here;
    };
    static constexpr Machine machines[] = {{"amd64", "x86_64"}, {"arm", "aarch64"},     {"arm64", "aarch64"},
                                           {"armhf", "armv7l"}, {"i386", "i686"},       {"x64", "x86_64"},
                                           {"x86", "i686"},     {"ppc64el", "ppc64le"}, {"x86-64", "x86_64"}};
    for (const auto& machine : machines) {
        if (machine.elsewhere == name) return machine.here;
    }
    return {};
}

namespace {

// What was meant by a word that is no assignment, or by a key that there is not; empty: nothing that is
// known.
std::string meant_by(std::string_view key, bool is_assignment) {
    struct Key {
        std::string_view elsewhere, meant;
    };
    static constexpr Key keys[] = {{"arch", "did you mean machine=?"},
                                   {"gpus", "did you mean gpu=?"},
                                   {"python", "Pythons are chosen by --python."},
                                   {"mpi", "A loaded module is modules=openmpi/4.1.6."},
                                   {"module", "did you mean modules=?"}};
    if (!is_assignment && parse_gpu(key)) return "did you mean gpu=" + std::string(key) + "?";
    for (const auto& one : keys) {
        if (one.elsewhere == key) return std::string(one.meant);
    }
    if (const auto* kind = accelerator::find_accelerator_kind(key))
        return "A loaded module is modules=" +
               std::string(kind->modules.empty() ? key : kind->modules.front()) +
               "/VERSION, what the node can run its driver=550.54.15.";
    return is_assignment ? std::string() : "Put wheel names before --assume or after --.";
}

}  // namespace

base::Status assume(Node& node, std::string_view assignment) {
    const auto equals = assignment.find('=');
    const auto key = assignment.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view() : assignment.substr(equals + 1);
    const auto fail = [&](const std::string& sentence) {
        const auto meant = meant_by(key, equals != std::string_view::npos);
        return base::fail("usage.assume", "--assume: " + sentence, std::string(assignment),
                          (meant.empty() ? std::string() : meant + " ") +
                              "as in: machine=aarch64 glibc=2.34 cpu=x86-64-v3 gpu=sm_90 driver=550.54.15 "
                              "modules=cuda/12.2,openmpi/4.1.6; gpu=none for a node without a GPU");
    };
    if (value.empty()) return fail("write it as KEY=VALUE");
    std::vector<std::string> values;
    for (const auto part : base::split(value, ','))
        values.emplace_back(part);
    if (key == "machine") {
        if (const auto called = machine_called(value); !called.empty())
            return fail("wheels call this machine " + std::string(called));
        node.machine = value;
        // Of another machine than this one nothing is known.
        if (!node.cpu.starts_with(value == "aarch64" ? arm_without_sve : "x86-64")) node.cpu.clear();
    } else if (key == "cpu") {
        const auto& levels = cpu_levels();
        if (std::find(levels.begin(), levels.end(), value) == levels.end())
            return fail("not a level: " + base::join(levels, ", "));
        node.cpu = value;
    } else if (key == "glibc" || key == "driver") {
        const auto version = Dotted::parse(value);
        if (!version) return fail("not a version of numbers and dots");
        (key == "glibc" ? node.glibc : node.driver) = version;
    } else if (key == "modules") {
        node.modules = std::move(values);
    } else if (key == "gpu") {
        node.gpus = Gpus{};
        if (value == no_gpu) return {};
        for (const auto& text : values) {
            const auto arch = parse_gpu(text);
            if (!arch) return fail("not a GPU: an architecture (sm_90, gfx90a) or a model (a100)");
            node.gpus->archs.push_back(*arch);
        }
    } else {
        return fail("unknown key");
    }
    return {};
}

}  // namespace wheelyard::avail_wheels
