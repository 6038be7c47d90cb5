// The rows of [users], and the rules of its keys.
#include <algorithm>

#include "builder/site/limits.hpp"
#include "builder/site/site_parts.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

using io::key;
using io::must;

constexpr int max_ranks_per_node = 4096;
constexpr int lowest_port = 1024;
constexpr int highest_port = 65'535;

// "pytorch/2.4.0": a folder and a file in it.
bool is_environment_module(std::string_view text) {
    const auto parts = base::split(text, '/');
    return parts.size() == 2 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
               return !part.empty() && part.front() != '.' && part.front() != '-' &&
                      std::all_of(part.begin(), part.end(), [](char c) {
                          return base::is_ascii_alnum(c) ||
                                 std::string_view("._+-").find(c) != std::string_view::npos;
                      });
           });
}

// One argument of `pip install`; options are not allowed.
bool is_requirement(std::string_view text) {
    return !text.empty() && base::is_ascii_alnum(text.front()) && text.find_first_of("\r\n\t") == text.npos;
}

bool is_path_entry(const std::string& text) {
    const bool is_folder = text.starts_with('/') && text.find_first_of("$:\r\n") == std::string::npos;
    return is_folder || !path_variable(text).empty();
}

// Modulefiles and Conda hooks set these values literally.
std::string literal_fault(const std::string& value) {
    return value.find_first_of("$\r\n") == std::string::npos
               ? ""
               : "a modulefile cannot set the value `" + value +
                     "`; put a value that a job computes into job_environment";
}

// On the nodes with the users' accelerator, one rank per GPU; otherwise one.
int default_ranks(const Site& site, const UserSettings& users) {
    const NodeType* node = node_of_users(site, users);
    return node == nullptr ? 1 : std::max(1, node->gpus);
}

}  // namespace

io::TomlRows<UserSettings> user_rows() {
    using U = UserSettings;
    const std::string variable_form = "the name of an environment variable";
    io::TomlFacts literal = environment_facts();
    literal.check = literal_fault;
    return {
        key("directory", &U::directory, {.is_required = true}),
        key("module", &U::module,
            {.is_required = true,
             .check = must(is_environment_module, "a name and a version such as `pytorch/2.4.0`")}),
        key("requirements", &U::requirements,
            {.fallback = "required", .check = must(is_requirement, "a requirement such as `torch==2.4.0`")}),
        key("packages", &U::packages, {.check = must(is_requirement, "a requirement such as `h5py`")}),
        key("python_modules", &U::python_modules,
            {.type = "list of modules", .fallback = "those of `users.python`"}),
        key("python", &U::python, {.fallback = "the first"}),
        key("accelerator", &U::accelerator, {.fallback = "the first"}),
        key("environment", &U::environment, literal),
        key("library_path", &U::library_path,
            {.type = "list of folders",
             .check =
                 must(is_path_entry,
                      "an absolute folder, or a variable of the modules such as `${CRAY_LD_LIBRARY_PATH}`")}),
        key("job_environment", &U::job_environment, environment_facts()),
        key("job_folders", &U::job_folders,
            {.type = "list of variables", .check = must(is_environment_name, variable_form)}),
        key("node_local", &U::node_local),
        key("launcher", &U::launcher, {.fallback = "`mpi.launcher`"}),
        key("options", &U::options, {.check = must(is_option, option_form)}),
        key("nodes", &U::nodes, {.range = {1, max_test_nodes}}),
        key("ranks_per_node", &U::ranks_per_node,
            {.fallback = "as many as GPUs", .range = {1, max_ranks_per_node}}),
        key("cores_per_rank", &U::cores_per_rank, {.range = {0, 4096}}),
        key("memory_mib", &U::memory_mib, {.range = {0, max_memory_mib}}),
        key("minutes", &U::minutes, {.range = {1, max_walltime_minutes_limit}}),
        key("master_port", &U::master_port,
            {.fallback = "derived from the job's number", .range = {0, highest_port}}),
        key("master_address", &U::master_address,
            {.type = "command",
             .fallback = "that of the first node's name",
             .check = must(is_one_line, "a command of one line such as `hostname -i`")}),
        key("libtorch_options", &U::libtorch_options),
        key("advice", &U::advice, {.type = "list of lines", .check = must(is_one_line, "one line")}),
        key("job_comments", &U::job_comments,
            {.type = "list of lines", .check = must(is_one_line, "one line")}),
    };
}

const NodeType* node_of_users(const Site& site, const UserSettings& users) {
    for (const auto& node : site.nodes) {
        if (node.accelerator == users.accelerator) return &node;
    }
    return nullptr;
}

std::string path_variable(std::string_view entry) {
    if (!entry.starts_with("${") || !entry.ends_with('}')) return "";
    std::string name(entry.substr(2, entry.size() - 3));
    return is_environment_name(name) ? name : "";
}

void check_users(io::TomlTable table, Site& site) {
    UserSettings& users = *site.users;
    note_places(table, "users.", site.places);
    if (users.requirements.empty())
        table.report("requirements",
                     "name at least one wheel, for example requirements = [\"torch==2.4.0\"]");
    if (!table.has("python")) users.python = site.pythons.empty() ? "" : site.pythons.front().version;
    if (site.python(users.python) == nullptr)
        table.report("python", "no [[python]] of this version: `" + users.python + "`");
    if (!table.has("accelerator")) users.accelerator = site.accelerators.front().name;
    if (site.accelerator(users.accelerator) == nullptr)
        table.report("accelerator", "no [[accelerator]] of this name: `" + users.accelerator + "`");
    if (std::count_if(users.library_path.begin(), users.library_path.end(),
                      [](const std::string& folder) { return !path_variable(folder).empty(); }) > 1)
        table.report("library_path", "names more than one variable");
    if (!table.has("launcher")) users.launcher = site.launcher;
    if (!table.has("ranks_per_node")) users.ranks_per_node = default_ranks(site, users);
    if (users.master_port != 0 && users.master_port < lowest_port)
        table.report("master_port", "ports below 1024 need root: " + std::to_string(users.master_port));
}

}  // namespace wheelyard::builder
