// The rows of the machine's part of site.toml, and the rules of its tables.
#include <algorithm>
#include <array>
#include <set>

#include "builder/attempt/limits.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/site_parts.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/dotted.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {
namespace {

using io::key;
using io::must;
using io::parsed;
using io::table;
using io::word;

constexpr std::string_view label_form = "a local version label such as `cu123.gh200`";
constexpr std::string_view module_form = "a module such as `gcc/12.2`";

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

bool is_proxy(std::string_view name) {
    static constexpr std::array<std::string_view, 5> known = {"all_proxy", "ftp_proxy", "http_proxy",
                                                              "https_proxy", "no_proxy"};
    return std::find(known.begin(), known.end(), name) != known.end();
}

bool is_glibc_version(std::string_view text) {
    const auto parts = base::split(text, '.');
    return parts.size() == 2 && parts[0] == "2" && base::parse_decimal(parts[1]).has_value();
}

std::string proxy_fault(const std::string& value) {
    if (!is_one_line(value)) return "expected one line, found `" + value + "`";
    return has_password(value)
               ? "the proxy's URL contains a password, which every job script would show; remove it"
               : "";
}

bool is_outer_folder(const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(text).lexically_normal();
    return path.is_absolute() && path != path.root_path();
}

bool is_conda(const PythonChoice& python) {
    return python.source == "conda";
}

void check_python(io::TomlTable& table, PythonChoice& python, Site& site) {
    if (python.conda_environment.empty()) python.conda_environment = python.conda;
    if (python.executable.empty())
        python.executable =
            (python.conda_environment / (python.source == "conda" ? "bin" : "") / ("python" + python.version))
                .string();
    if (python.source == "module" && python.modules.empty())
        table.report("modules", "`source = \"module\"` needs the module's name: modules = [\"python/3.11\"]");
    if (site.python(python.version) != nullptr)
        table.report("version", "Python `" + python.version + "` is described twice");
}

constexpr std::string_view property_forms =
    "`x86_64 :: level :: v1` to `v4`, or of NVIDIA's GPUs `nvidia :: cuda_version_lower_bound :: 12.6`, "
    "since the GPUs "
    "follow from the code, and installers have no other provider";

// "NAMESPACE :: FEATURE :: VALUE"
std::optional<wheel::VariantProperty> split_property(std::string_view text) {
    constexpr std::string_view between = " :: ";
    const auto first = text.find(between), last = text.rfind(between);
    if (first == last) return std::nullopt;
    return wheel::VariantProperty{
        std::string(text.substr(0, first)),
        std::string(text.substr(first + between.size(), last - first - between.size())),
        std::string(text.substr(last + between.size()))};
}

// The words that a declared property may have: `nvidia :: cuda_version_lower_bound :: 12.6`, `x86_64 :: level
// :: v3`. The GPUs follow from the code, and for anything else no installer has a provider.
bool is_provided(wheel::VariantProperty& property, const accelerator::VariantProvider& provider) {
    if (property.name_space == "x86_64" && property.feature == "level")
        return property.value.size() == 2 && property.value >= "v1" && property.value <= "v4";
    const auto driver = base::Dotted::parse(property.value);
    if (provider.lower_bound.empty() || property.name_space != provider.name_space ||
        property.feature != provider.lower_bound || !driver || driver->numbers.size() != 2)
        return false;
    property.value = driver->text();
    return true;
}

void check_variant(io::TomlTable& table, wheel::LabelledVariant& variant, Accelerator& one) {
    const auto* kind = accelerator::find_accelerator_kind(one.kind);
    const auto provider = kind == nullptr ? accelerator::VariantProvider() : kind->variant_provider;
    if (kind != nullptr && provider.name_space.empty())
        table.report("label", "no installer has a provider for the GPUs of " + std::string(kind->title) +
                                  ": nothing can choose such a variant by its node");
    std::set<std::string> features;
    for (auto& property : variant.properties) {
        if (!is_provided(property, provider))
            table.report("properties",
                         "expected " + std::string(property_forms) + ", found `" + property.text() + "`");
        else if (!features.insert(property.feature).second)
            table.report("properties", "a second value of one feature: `" + property.text() + "`");
    }
    if (!provider.lower_bound.empty() && !features.contains(std::string(provider.lower_bound)))
        table.report("properties", "name the oldest driver, by the toolkit that it supports: `" +
                                       std::string(provider.name_space) +
                                       " :: " + std::string(provider.lower_bound) + " :: 12.6`");
    const bool is_for_all = kind == nullptr && variant.properties.empty();
    if (!variant.label.empty() && (variant.label == "null") != is_for_all)
        table.report("label", is_for_all ? "without properties, and without GPUs, the label is `null`"
                                         : "`null` is the label without properties, of `kind = \"cpu\"`");
    std::sort(variant.properties.begin(), variant.properties.end());
}

// `site` has the accelerators before this one.
void check_accelerator(io::TomlTable& table, Accelerator& one, Site& site) {
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
    if (!table.has("label")) one.label = site.label;
    for (const Accelerator& other : site.accelerators) {
        if (other.name == one.name) table.report("name", "accelerator `" + one.name + "` is described twice");
        if (other.label == one.label)
            table.report("label",
                         "two accelerators have the same label, so their wheels would have the same name: `" +
                             one.label + "`");
        if (one.variant && other.variant && other.variant->label == one.variant->label)
            table.report("variant",
                         "two accelerators have the same label of variants: `" + one.variant->label + "`");
    }
}

void check_node(io::TomlTable& table, NodeType& node, Site& site) {
    note_places(table, "node." + node.name + ".", site.places);
    if (!node.accelerator.empty() && site.accelerator(node.accelerator) == nullptr)
        table.report("accelerator", "no [[accelerator]] of this name: `" + node.accelerator + "`");
}

// "gpu_type=a100": a resource and its value, which end at the next one (qsub(1B), -l select).
bool is_chunk_resource(const std::string& text) {
    const auto equals = text.find('=');
    return equals != std::string::npos && equals > 0 && equals + 1 < text.size() &&
           text.find_first_of(":+#") == std::string::npos && fits_into_a_directive(text);
}

io::TomlRows<Accelerator> accelerator_rows() {
    using A = Accelerator;
    using V = wheel::LabelledVariant;
    return {
        key("name", &A::name, {.is_required = true}),
        key("kind", &A::kind, {.choices = accelerator::accelerator_names()}),
        key("architectures", &A::architectures, {.fallback = "required for a GPU"}),
        key("label", &A::label, {.fallback = "`label`", .check = must(is_label, label_form)}),
        key("modules", &A::modules, {.check = must(is_module, module_form)}),
        key("environment", &A::environment, environment_facts()),
        table("variant", &A::variant,
              {
                  key("label", &V::label,
                      {.is_required = true,
                       .check = must(wheel::is_variant_label, "a-z, 0-9, . and _, as in `gh200`")}),
                  parsed<split_property>("properties", &V::properties, property_forms, {.type = "list"}),
              },
              {}, check_variant),
    };
}

io::TomlRows<NodeType> node_rows() {
    using N = NodeType;
    const std::string of_pythons = "that of the site's Pythons";
    return {
        key("name", &N::name, {.is_required = true}),
        key("queue", &N::queue),
        key("cores", &N::cores, {.range = {0, 4096}}),
        key("memory_mib", &N::memory_mib, {.range = {0, max_memory_mib}}),
        key("gpus", &N::gpus, {.range = {0, 64}}),
        key("accelerator", &N::accelerator),
        key("exclusive", &N::exclusive),
        key("memory_per_core_mib", &N::memory_per_core_mib, {.range = {0, max_memory_mib}}),
        word<nameable_parts>("not_asked", &N::not_asked),
        key("chunk", &N::chunk,
            {.check = must(is_chunk_resource, "a resource of a chunk such as `gpu_type=a100`")}),
        key("options", &N::options, {.check = must(is_option, option_form)}),
        key("machine", &N::machine, {.fallback = of_pythons}),
        key("glibc", &N::glibc,
            {.fallback = of_pythons, .check = must(is_glibc_version, "a version such as `2.34`")}),
    };
}

}  // namespace

io::TomlRows<Site> machine_rows() {
    using S = Site;
    using P = PythonChoice;
    using M = ModuleSettings;
    using U = UploadedSources;
    return {
        key("label", &S::label, {.check = must(is_label, label_form)}),
        table("python", &S::pythons,
              {
                  key("version", &P::version,
                      {.is_required = true,
                       .check = must(is_python_version, "a Python version such as `3.11`")}),
                  key("source", &P::source, {.choices = {"venv", "conda", "module"}}),
                  key("executable", &P::executable, {.fallback = "`python` and the version"}),
                  key("conda", &P::conda, {.fallback = "required for `conda`", .is_required = true})
                      .when(is_conda),
                  key("conda_environment", &P::conda_environment, {.fallback = "the installation"})
                      .when(is_conda),
                  key("modules", &P::modules, {.check = must(is_module, module_form)}),
              },
              {.fallback = "at least one"}, check_python),
        table("modules", &S::modules,
              {
                  key("init", &M::init),
                  key("purge", &M::purge),
                  key("use", &M::use, {.type = "list of folders"}),
                  key("load", &M::load, {.check = must(is_module, module_form)}),
                  key("environment", &M::environment, environment_facts()),
              }),
        table("compilers", &S::compilers,
              {
                  key("c", &Compilers::c),
                  key("cxx", &Compilers::cxx),
                  key("fortran", &Compilers::fortran),
                  key("mpi_c", &Compilers::mpi_c),
              }),
        key("environment", &S::environment, environment_facts()),
        key("versions", &S::provided_versions,
            {.type = "table of versions",
             .check = must(is_version, "a version"),
             .normal_name = wheel::normalize_name}),
        key("network.offline_jobs", &S::offline_jobs),
        key("network.login_minutes", &S::login_minutes, {.range = {1, max_walltime_minutes_limit}}),
        key("network.proxies", &S::proxies,
            {.check = proxy_fault,
             .name_check = must(is_proxy, "http_proxy, https_proxy, ftp_proxy, all_proxy or no_proxy")}),
        key("mpi.launcher", &S::launcher, {.fallback = "`mpiexec -n {ranks}`"}),
        table("accelerator", &S::accelerators, accelerator_rows(), {.fallback = "one, `cpu`"},
              check_accelerator),
        table("node", &S::nodes, node_rows(), {}, check_node),
        key("allowed.search_path_prefixes", &S::search_path_prefixes, {.type = "list of folders"}),
        table("uploaded_sources", &S::uploaded_sources,
              {
                  key("bubblewrap", &U::bubblewrap, {.is_required = true}),
                  key("readable", &U::readable,
                      {.check = must(is_outer_folder, "the absolute path of a folder")}),
                  key("processes", &U::processes,
                      {.fallback = "512, and 16 for each of `scheduler.cores`", .range = {16, 1'000'000}}),
                  key("memory_mib", &U::memory_mib, {.range = {64, max_memory_mib}}),
                  key("disk_gib", &U::disk_gib, {.range = {1, 1'048'576}}),
                  key("shm_mib", &U::shm_mib, {.range = {1, max_memory_mib}}),
                  key("idle_s", &U::idle_s, {.range = {60, 86'400}}),
              }),
    };
}

}  // namespace wheelyard::builder
