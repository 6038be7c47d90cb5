// The strict reader of the machine's part of site.toml.
#include "builder/site/site_parts.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "builder/attempt/limits.hpp"
#include "builder/site/limits.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/dotted.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {
namespace {

bool is_python_version(std::string_view text) {
    const auto parts = base::split(text, '.');
    return parts.size() == 2 && parts[0] == "3" && base::parse_decimal(parts[1]).has_value();
}

// A label is a local version identifier (PEP 440) in the form to which pip normalises it.
bool is_label(std::string_view text) {
    for (const auto part : base::split(text, '.')) {
        const bool plain = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
            return base::is_ascii_digit(c) || (c >= 'a' && c <= 'z');
        });
        if (!plain) return false;
    }
    return true;
}

// Module names are put into commands of the script unquoted.
bool is_module(std::string_view text) {
    return !text.empty() && !text.starts_with('-') && std::all_of(text.begin(), text.end(), [](char c) {
        return base::is_ascii_alnum(c) || std::string_view("._+-/").find(c) != std::string_view::npos;
    });
}

std::vector<std::string> read_module_names(io::TomlTable& table, std::string_view key) {
    auto names = table.strings_or(key, {});
    for (const auto& name : names) {
        if (!is_module(name)) table.report(key, "expected a module such as `gcc/12.2`, found `" + name + "`");
    }
    return names;
}

Environment read_environment(io::TomlTable& table) {
    auto environment = table.string_map("environment");
    for (const auto& [name, value] : environment) {
        if (!is_environment_name(name))
            table.report("environment", "not the name of an environment variable: `" + name + "`");
    }
    return environment;
}

void read_conda(io::TomlTable& table, PythonChoice& python) {
    python.conda = table.path("conda");
    python.conda_environment = table.path_if("conda_environment").value_or(python.conda);
    python.executable = table.string_or(
        "executable", (python.conda_environment / "bin" / ("python" + python.version)).string());
}

void read_pythons(io::TomlTable root, Site& site) {
    for (io::TomlTable table : root.tables("python")) {
        PythonChoice python;
        python.version = table.string("version");
        python.source = table.choice_or("source", "venv", {"venv", "conda", "module"});
        if (python.source == "conda") {
            read_conda(table, python);
        } else {
            python.executable = table.string_or("executable", "python" + python.version);
        }
        python.modules = read_module_names(table, "modules");
        if (python.source == "module" && python.modules.empty())
            table.report("modules",
                         "`source = \"module\"` needs the module's name: modules = [\"python/3.11\"]");
        if (!python.version.empty() && !is_python_version(python.version)) {
            table.report("version",
                         "expected a Python version such as `3.11`, found `" + python.version + "`");
        }
        if (site.python(python.version) != nullptr)
            table.report("version", "Python `" + python.version + "` is described twice");
        site.pythons.push_back(std::move(python));
    }
    if (site.pythons.empty()) root.report("python", "expected at least one [[python]] table");
}

void read_modules(io::TomlTable root, Site& site) {
    io::TomlTable table = root.table_or_empty("modules");
    site.modules.init = table.string_or("init", "");
    site.modules.purge = table.boolean_or("purge", false);
    site.modules.use = table.strings_or("use", {});
    site.modules.load = read_module_names(table, "load");
    site.modules.environment = read_environment(table);
}

void read_compilers(io::TomlTable root, Site& site) {
    io::TomlTable table = root.table_or_empty("compilers");
    site.compilers.c = table.string_or("c", "");
    site.compilers.cxx = table.string_or("cxx", "");
    site.compilers.fortran = table.string_or("fortran", "");
    site.compilers.mpi_c = table.string_or("mpi_c", "");
}

void read_network(io::TomlTable root, Site& site) {
    io::TomlTable table = root.table_or_empty("network");
    site.offline_jobs = table.boolean_or("offline_jobs", false);
    site.login_minutes =
        table.integer_or("login_minutes", default_login_minutes, 1, max_walltime_minutes_limit);
    site.proxies = table.string_map("proxies");
    static constexpr std::array<std::string_view, 5> known = {"all_proxy", "ftp_proxy", "http_proxy",
                                                              "https_proxy", "no_proxy"};
    for (const auto& [name, value] : site.proxies) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            table.report(
                "proxies",
                "expected http_proxy, https_proxy, ftp_proxy, all_proxy or no_proxy, found `" + name + "`");
        if (value.find_first_of("\r\n") != std::string::npos)
            table.report("proxies", "expected one line, found `" + value + "`");
        const auto url = base::parse_url(value);
        if (url && !url->userinfo.empty())
            table.report("proxies",
                         "the proxy's URL contains a password, which every job script would show; remove it");
    }
}

// The words that a declared property may have: `nvidia :: cuda_version_lower_bound :: 12.6`, `x86_64 :: level :: v3`. The
// GPUs follow from the code, and for anything else no installer has a provider.
std::optional<wheel::VariantProperty> parse_property(std::string_view text,
                                                     const accelerator::VariantProvider& provider) {
    const auto value_after = [&](std::string_view name_space, std::string_view feature) {
        const std::string begin =
            wheel::VariantProperty{std::string(name_space), std::string(feature), {}}.text();
        return text.starts_with(begin) ? text.substr(begin.size()) : std::string_view();
    };
    const auto level = value_after("x86_64", "level");
    if (level.size() == 2 && level >= "v1" && level <= "v4")
        return wheel::VariantProperty{"x86_64", "level", std::string(level)};
    if (provider.lower_bound.empty()) return std::nullopt;
    const auto driver = base::Dotted::parse(value_after(provider.name_space, provider.lower_bound));
    if (!driver || driver->numbers.size() != 2) return std::nullopt;
    return wheel::VariantProperty{std::string(provider.name_space), std::string(provider.lower_bound),
                                  driver->text()};
}

// [accelerator.variant]
wheel::LabelledVariant read_variant(io::TomlTable table, const Accelerator& one) {
    const auto* kind = accelerator::find_accelerator_kind(one.kind);
    const auto provider = kind == nullptr ? accelerator::VariantProvider() : kind->variant_provider;
    if (kind != nullptr && provider.name_space.empty())
        table.report("label", "no installer has a provider for the GPUs of " + std::string(kind->title) +
                                  ": nothing can choose such a variant by its node");
    wheel::LabelledVariant variant{table.string("label"), {}};
    if (!variant.label.empty() && !wheel::is_variant_label(variant.label))
        table.report("label", "expected a-z, 0-9, . and _, as in `gh200`, found `" + variant.label + "`");
    bool has_driver = false;
    for (const auto& text : table.strings_or("properties", {})) {
        const auto property = parse_property(text, provider);
        if (!property) {
            table.report("properties",
                         "expected `x86_64 :: level :: v1` to `v4`, or of NVIDIA's GPUs "
                         "`nvidia :: cuda_version_lower_bound :: 12.6`, found `" +
                             text +
                             "`: the GPUs follow from the code, and installers have no other provider");
            continue;
        }
        const bool is_repeated =
            std::any_of(variant.properties.begin(), variant.properties.end(),
                        [&](const auto& other) { return other.feature == property->feature; });
        if (is_repeated) table.report("properties", "a second value of one feature: `" + text + "`");
        has_driver = has_driver || property->feature == provider.lower_bound;
        variant.properties.push_back(*property);
    }
    if (!provider.lower_bound.empty() && !has_driver)
        table.report("properties", "name the oldest driver, by the toolkit that it supports: `" +
                                       std::string(provider.name_space) +
                                       " :: " + std::string(provider.lower_bound) + " :: 12.6`");
    const bool is_for_all = kind == nullptr && variant.properties.empty();
    if (!variant.label.empty() && (variant.label == "null") != is_for_all)
        table.report("label", is_for_all ? "without properties, and without GPUs, the label is `null`"
                                         : "`null` is the label without properties, of `kind = \"cpu\"`");
    std::sort(variant.properties.begin(), variant.properties.end());
    return variant;
}

void read_accelerators(io::TomlTable root, Site& site) {
    const auto tables = root.tables("accelerator");
    if (!tables.empty()) site.accelerators.clear();
    std::set<std::string> labels, variants;
    for (io::TomlTable table : tables) {
        Accelerator one;
        one.name = table.string("name");
        one.kind = table.choice_or("kind", std::string(accelerator::cpu), accelerator::accelerator_names());
        one.architectures = table.strings_or("architectures", {});
        for (const auto& architecture : one.architectures) {
            const auto* of_kind = accelerator::kind_of_architecture(architecture);
            if (of_kind == nullptr || of_kind->name != one.kind)
                table.report("architectures", "expected one such as " +
                                                  accelerator::list_kinds("`{example}` ({name})", " or ") +
                                                  ", found `" + architecture + "`");
        }
        if (one.kind != accelerator::cpu && one.architectures.empty())
            table.report("architectures",
                         "name at least one GPU architecture, for example architectures = [\"sm_90\"]");
        one.label = table.string_or("label", site.label);
        if (!one.label.empty() && !is_label(one.label))
            table.report("label",
                         "expected a local version label such as `cu123.gh200`, found `" + one.label + "`");
        if (site.accelerator(one.name) != nullptr)
            table.report("name", "accelerator `" + one.name + "` is described twice");
        if (!labels.insert(one.label).second)
            table.report("label",
                         "two accelerators have the same label, so their wheels would have the same name: `" +
                             one.label + "`");
        one.modules = read_module_names(table, "modules");
        one.environment = read_environment(table);
        if (table.has("variant")) one.variant = read_variant(table.table("variant"), one);
        if (one.variant && !variants.insert(one.variant->label).second)
            table.report("variant",
                         "two accelerators have the same label of variants: `" + one.variant->label + "`");
        site.accelerators.push_back(std::move(one));
    }
}

bool is_glibc_version(std::string_view text) {
    const auto parts = base::split(text, '.');
    return parts.size() == 2 && parts[0] == "2" && base::parse_decimal(parts[1]).has_value();
}

std::vector<JobPart> read_not_asked(io::TomlTable& table) {
    std::vector<JobPart> parts;
    for (const auto& name : table.strings_or("not_asked", {})) {
        const auto found = std::find_if(nameable_parts.begin(), nameable_parts.end(),
                                        [&](const NameablePart& one) { return one.name == name; });
        if (found == nameable_parts.end())
            table.report("not_asked", "expected `cores`, `gpus`, `memory` or `nodes`, found `" + name + "`");
        else
            parts.push_back(found->part);
    }
    return parts;
}

void read_nodes(io::TomlTable root, Site& site) {
    for (io::TomlTable table : root.tables("node")) {
        NodeType node;
        node.name = table.string("name");
        node.queue = table.string_or("queue", "");
        node.cores = static_cast<int>(table.integer_or("cores", 0, 0, 4096));
        node.memory_mib = table.integer_or("memory_mib", 0, 0, max_memory_mib);
        node.gpus = static_cast<int>(table.integer_or("gpus", 0, 0, 64));
        node.exclusive = table.boolean_or("exclusive", false);
        node.memory_per_core_mib = table.integer_or("memory_per_core_mib", 0, 0, max_memory_mib);
        node.not_asked = read_not_asked(table);
        node.options = read_options(table);
        for (const char* key : {"queue", "cores", "memory_mib", "gpus", "memory_per_core_mib", "options"}) {
            if (table.has(key)) site.places["node." + node.name + "." + key] = table.place(key);
        }
        node.accelerator = table.string_or("accelerator", "");
        if (!node.accelerator.empty() && site.accelerator(node.accelerator) == nullptr)
            table.report("accelerator", "no [[accelerator]] of this name: `" + node.accelerator + "`");
        node.machine = table.string_or("machine", "");
        node.glibc = table.string_or("glibc", "");
        if (!node.glibc.empty() && !is_glibc_version(node.glibc))
            table.report("glibc", "expected a version such as `2.34`, found `" + node.glibc + "`");
        site.nodes.push_back(std::move(node));
    }
}

void read_uploaded_sources(io::TomlTable root, Site& site) {
    if (!root.has("uploaded_sources")) return;
    io::TomlTable table = root.table("uploaded_sources");
    UploadedSources uploads{table.path("bubblewrap")};
    for (const auto& folder : table.strings_or("readable", {})) {
        const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
        if (!path.is_absolute() || path == path.root_path())
            table.report("readable", "expected the absolute path of a folder, found `" + folder + "`");
        uploads.readable.push_back(path);
    }
    uploads.processes = table.integer_or("processes", 0, 16, 1'000'000);
    uploads.memory_mib = table.integer_or("memory_mib", default_upload_memory_mib, 64, max_memory_mib);
    uploads.disk_gib = table.integer_or("disk_gib", default_upload_disk_gib, 1, 1'048'576);
    uploads.shm_mib = table.integer_or("shm_mib", default_upload_shm_mib, 1, max_memory_mib);
    uploads.idle_s = table.integer_or("idle_s", default_upload_idle_s, 60, 86'400);
    site.uploaded_sources = std::move(uploads);
}

}  // namespace

void read_machine(io::TomlTable root, Site& site) {
    site.label = root.string_or("label", "");
    if (!site.label.empty() && !is_label(site.label))
        root.report("label",
                    "expected a local version label such as `cu123.gh200`, found `" + site.label + "`");
    read_pythons(root, site);
    read_modules(root, site);
    read_compilers(root, site);
    read_network(root, site);
    site.launcher = root.table_or_empty("mpi").string_or("launcher", "");
    read_accelerators(root, site);
    read_nodes(root, site);
    read_uploaded_sources(root, site);
    site.search_path_prefixes = root.table_or_empty("allowed").strings_or("search_path_prefixes", {});
}

}  // namespace wheelyard::builder
