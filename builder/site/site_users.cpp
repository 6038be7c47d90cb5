// The strict reader of [users].
#include "builder/site/site_parts.hpp"

#include <algorithm>
#include <set>

#include "builder/site/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

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

void check_variable(io::TomlTable& table, std::string_view key, const std::string& name) {
    if (!is_environment_name(name))
        table.report(key, "not the name of an environment variable: `" + name + "`");
}

// Modulefiles and Conda hooks set these values literally. Values that depend on the job belong in
// job_environment.
void read_environments(io::TomlTable& table, UserSettings& users) {
    users.environment = table.string_map("environment");
    for (const auto& [name, value] : users.environment) {
        check_variable(table, "environment", name);
        if (value.find_first_of("$\r\n") != std::string::npos)
            table.report("environment", "`" + name + "` has a value that a modulefile cannot set: `" + value +
                                            "`; put a value that a job computes into job_environment");
    }
    users.library_path = table.strings_or("library_path", {});
    if (std::count_if(users.library_path.begin(), users.library_path.end(),
                      [](const std::string& folder) { return !path_variable(folder).empty(); }) > 1)
        table.report("library_path", "names more than one variable");
    for (const auto& folder : users.library_path) {
        const bool is_folder = folder.starts_with('/') && folder.find_first_of("$:\r\n") == std::string::npos;
        if (!is_folder && path_variable(folder).empty())
            table.report("library_path",
                         "expected an absolute folder, or a variable of the modules such as "
                         "`${CRAY_LD_LIBRARY_PATH}`, found `" +
                             folder + "`");
    }
    users.job_environment = table.string_map("job_environment");
    for (const auto& [name, value] : users.job_environment)
        check_variable(table, "job_environment", name);
    users.job_folders = table.strings_or("job_folders", {});
    for (const auto& name : users.job_folders)
        check_variable(table, "job_folders", name);
}

// On the nodes with the users' accelerator, one rank per GPU; otherwise one.
int default_ranks(const Site& site, const UserSettings& users) {
    const NodeType* node = node_of_users(site, users);
    return node == nullptr ? 1 : std::max(1, node->gpus);
}

void read_job(io::TomlTable& table, const Site& site, UserSettings& users) {
    users.node_local = table.string_or("node_local", "");
    users.launcher = table.string_or("launcher", site.launcher);
    users.options = read_options(table);
    users.nodes = static_cast<int>(table.integer_or("nodes", 1, 1, max_test_nodes));
    users.ranks_per_node = static_cast<int>(
        table.integer_or("ranks_per_node", default_ranks(site, users), 1, max_ranks_per_node));
    users.cores_per_rank = static_cast<int>(table.integer_or("cores_per_rank", 0, 0, 4096));
    users.memory_mib = table.integer_or("memory_mib", 0, 0, max_memory_mib);
    users.minutes = table.integer_or("minutes", users.minutes, 1, max_walltime_minutes_limit);
    users.master_port = static_cast<int>(table.integer_or("master_port", 0, 0, highest_port));
    users.master_address = table.string_or("master_address", "");
    users.libtorch_options = table.strings_or("libtorch_options", {});
    users.advice = table.strings_or("advice", {});
    users.job_comments = table.strings_or("job_comments", {});
    for (const auto& [key, lines] :
         {std::pair{"advice", &users.advice}, {"job_comments", &users.job_comments}}) {
        for (const auto& line : *lines) {
            if (line.find_first_of("\r\n") != std::string::npos)
                table.report(key, "expected one line, found `" + line + "`");
        }
    }
    if (users.master_address.find_first_of("\r\n") != std::string::npos)
        table.report("master_address", "expected a command of one line such as `hostname -i`");
    if (users.master_port != 0 && users.master_port < lowest_port)
        table.report("master_port", "ports below 1024 need root: " + std::to_string(users.master_port));
}

}  // namespace

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

void read_users(io::TomlTable root, Site& site) {
    if (!root.has("users")) return;
    io::TomlTable table = root.table("users");
    UserSettings users;
    users.directory = table.path("directory");
    users.module = table.string("module");
    if (!users.module.empty() && !is_environment_module(users.module))
        table.report("module",
                     "expected a name and a version such as `pytorch/2.4.0`, found `" + users.module + "`");
    users.requirements = table.strings_or("requirements", {});
    if (users.requirements.empty())
        table.report("requirements",
                     "name at least one wheel, for example requirements = [\"torch==2.4.0\"]");
    for (const auto& requirement : users.requirements) {
        if (!is_requirement(requirement))
            table.report("requirements",
                         "expected a requirement such as `torch==2.4.0`, found `" + requirement + "`");
    }
    users.packages = table.strings_or("packages", {});
    for (const auto& package : users.packages) {
        if (!is_requirement(package))
            table.report("packages", "expected a requirement such as `h5py`, found `" + package + "`");
    }
    users.python_modules = table.strings_or("python_modules", {});
    users.python = table.string_or("python", site.pythons.empty() ? "" : site.pythons.front().version);
    if (site.python(users.python) == nullptr)
        table.report("python", "no [[python]] of this version: `" + users.python + "`");
    users.accelerator = table.string_or("accelerator", site.accelerators.front().name);
    if (site.accelerator(users.accelerator) == nullptr)
        table.report("accelerator", "no [[accelerator]] of this name: `" + users.accelerator + "`");
    read_environments(table, users);
    read_job(table, site, users);
    for (const char* key :
         {"options", "nodes", "ranks_per_node", "cores_per_rank", "memory_mib", "minutes"}) {
        if (table.has(key)) site.places[std::string("users.") + key] = table.place(key);
    }
    site.users = std::move(users);
}

}  // namespace wheelyard::builder
