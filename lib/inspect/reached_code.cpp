// Which of a wheel's libraries its import needs: the extension modules that the import of its packages
// reaches, and what these load of the wheel. Reads only the modules that are reached.
#include "lib/inspect/inspect.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/installed_tree.hpp"
#include "lib/inspect/python/import_walk.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::inspect {
namespace {

// What lies beside a project's package and is not imported by its users.
constexpr std::array<std::string_view, 9> side_folders{"test",     "tests", "doc",        "docs",   "example",
                                                       "examples", "bench", "benchmarks", "scripts"};

constexpr std::size_t max_needed_libraries = 64;  // in each map of the facts

// Projects of one module that require no other.
struct LeafProject {
    std::string_view project, module;
};
constexpr std::array<LeafProject, 3> leaf_projects{
    {{"packaging", "packaging"}, {"six", "six"}, {"typing-extensions", "typing_extensions"}}};

// The modules that all that is required brings; nullopt: they are not known.
std::optional<std::set<std::string_view>> brought_by(const std::vector<std::string>& requires_dist) {
    std::set<std::string_view> modules;
    for (const std::string& text : requires_dist) {
        const auto requirement = wheel::Requirement::parse(text);
        if (!requirement) return std::nullopt;
        if (text.find("extra ==", std::min(text.find(';'), text.size())) != std::string::npos) continue;
        const auto* row =
            std::find_if(leaf_projects.begin(), leaf_projects.end(),
                         [&](const LeafProject& one) { return one.project == requirement->project; });
        if (row == leaf_projects.end()) return std::nullopt;
        modules.insert(row->module);
    }
    return modules;
}

bool is_identifier(std::string_view text) {
    return !text.empty() && !base::is_ascii_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_ascii_alnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
           });
}

// "pkg/sub/" → "pkg.sub."; nullopt: no folder of modules.
std::optional<std::string> package_of(std::string_view folder) {
    std::string package;
    while (!folder.empty()) {
        const std::size_t slash = folder.find('/');
        if (!is_identifier(folder.substr(0, slash))) return std::nullopt;
        package.append(folder.substr(0, slash)).append(".");
        folder.remove_prefix(std::min(slash + 1, folder.size()));
    }
    return package;
}

// How the import reaches what needs a library, and the module, or else the file, that does.
struct Need {
    Reach reach;
    std::string by;
};

class ReachedCode {
  public:
    ReachedCode(const base::Reader& bytes, const Frame& frame, const std::vector<ElfMember>& elves)
        : bytes_(bytes), elves_(elves), names_(elves.size()), loaded_by_(elves.size()) {
        std::map<std::string_view, std::size_t> elf_of;
        for (std::size_t i = 0; i < elves.size(); ++i) {
            elf_of.emplace(elves[i].name, i);
            by_file_.emplace(base::base_name(elves[i].name), i);
            if (!elves[i].elf.soname.empty()) by_file_.emplace(elves[i].elf.soname, i);
            if (is_extension(elves[i]))
                has_extensions_ = true;
            else if (elves[i].elf.kind == ElfKind::shared && !elves[i].elf.is_device)
                loose_libraries_.push_back(i);
        }
        for (const Member& member : frame.members) {
            const InstalledPath path = installed_path(member.name);
            if (path.folder != InstallFolder::site || !path.python.empty() || !member.readable) continue;
            const auto elf = elf_of.find(member.name);
            if (elf != elf_of.end() && is_extension(elves[elf->second]))
                add_extension(path.path, elf->second);
            else if (path.path.ends_with(".py"))
                add_source(path.path, member);
        }
        modules_.read = [this](std::string_view module) { return read(module); };
    }

    void gather(std::string_view project, const ProvidedLibraries& provided, Facts& facts) {
        ImportWalk walk = walk_imports(modules_, roots(project));
        if (!walk.is_whole) return;
        facts.sure_imports = std::move(walk.gone);
        if (const auto brought = brought_by(facts.requires_dist))
            for (const auto& [module, by] : walk.foreign)
                if (!brought->contains(module)) facts.sure_imports.emplace(module, by);
        // Which of them code opens is not read.
        if (walk.opens_libraries)
            for (const std::size_t library : loose_libraries_)
                walk.files.try_emplace(library, Reach::maybe);
        if (modules_.modules.empty() || (!has_extensions_ && walk.files.empty())) return;
        add_neighbours(walk.files);
        follow_needed(walk.files);
        find_users();
        std::map<std::string, Need> needs;  // by library
        for (std::size_t i = 0; i < elves_.size(); ++i) {
            const auto file = walk.files.find(i);
            const Reach reach = file == walk.files.end() ? Reach::never : file->second;
            if (reach == Reach::always) note_level(i, facts);
            if (reach != Reach::never && elves_[i].elf.has_executable_stack && facts.executable_stack.empty())
                facts.executable_stack = name_of(i);
            note_functions(i, reach, facts);
            for (const std::string& library : elves_[i].elf.needed) {
                if (provided.finds(elves_[i], library)) continue;
                const std::size_t user = loaded_by_[i];
                Need& need = needs.try_emplace(library, Need{reach, name_of(user)}).first->second;
                const bool is_better_name = !names_[user].empty() && need.by.find('/') != std::string::npos;
                if (need.reach < reach || (need.reach == reach && is_better_name))
                    need = {reach, name_of(user)};
            }
        }
        for (const auto& [library, need] : needs) {
            if (need.reach == Reach::always && library_kind(library) != LibraryKind::unknown &&
                !provided.has(library))
                continue;
            // Code that opens libraries may open this one first.
            auto& into = need.reach == Reach::never                           ? facts.needed_later
                         : need.reach == Reach::maybe || walk.opens_libraries ? facts.needed_maybe
                                                                              : facts.needed_surely;
            if (into.size() < max_needed_libraries) into.emplace(library, need.by);
        }
    }

  private:
    void add_extension(std::string_view path, std::size_t elf) {
        const std::string_view file = base::base_name(path);
        const auto package = package_of(path.substr(0, path.size() - file.size()));
        const std::string_view name = file.substr(0, file.find('.'));
        if (!package || !is_identifier(name)) return;
        const bool is_package = name == "__init__";
        std::string module = *package + std::string(is_package ? std::string_view() : name);
        if (is_package) module.resize(module.empty() ? 0 : module.size() - 1);
        names_[elf] = module;
        modules_.modules[std::move(module)].extensions.push_back(elf);
    }

    void add_source(std::string_view path, const Member& member) {
        const std::string_view file = base::base_name(path);
        const auto package = package_of(path.substr(0, path.size() - file.size()));
        const std::string_view name = file.substr(0, file.size() - std::string_view(".py").size());
        if (!package || !is_identifier(name)) return;
        const bool is_package = name == "__init__";
        if (is_package && package->empty()) return;
        std::string module =
            is_package ? package->substr(0, package->size() - 1) : *package + std::string(name);
        auto& row = modules_.modules[module];
        row.is_package = row.is_package || is_package;
        // Of `a.py` and `a/__init__.py` Python takes the folder.
        if (row.has_source && !is_package) return;
        row.has_source = true;
        sources_[std::move(module)] = &member;
    }

    [[nodiscard]] std::optional<std::string> read(std::string_view module) const {
        const auto member = sources_.find(module);
        if (member == sources_.end()) return std::nullopt;
        auto text = read_member(bytes_, *member->second, max_source_bytes);
        // What cannot be read is a finding of contents.cpp; a longer one is data.
        return text ? std::move(*text) : std::string();
    }

    [[nodiscard]] std::vector<std::string> roots(std::string_view project) const {
        std::set<std::string> tops;
        for (const auto& [name, module] : modules_.modules) {
            std::string top = name.substr(0, name.find('.'));
            if (wheel::escape_name(wheel::normalize_name(top)) == wheel::escape_name(project))
                return {std::move(top)};
            if (std::find(side_folders.begin(), side_folders.end(), top) == side_folders.end())
                tops.insert(std::move(top));
        }
        // libpff_python: `_build.py` is left over beside pypff.
        const bool has_public = std::any_of(tops.begin(), tops.end(),
                                            [](const std::string& top) { return !top.starts_with('_'); });
        if (has_public) std::erase_if(tops, [](const std::string& top) { return top.starts_with('_'); });
        return {tops.begin(), tops.end()};
    }

    // An extension module imports others by names that are not seen here. Those beside it may be among them.
    void add_neighbours(std::map<std::size_t, Reach>& files) const {
        std::set<std::string_view> folders;
        const auto folder_of = [&](std::size_t i) {
            const std::string_view name = elves_[i].name;
            return name.substr(0, name.size() - base::base_name(name).size());
        };
        for (const auto& [i, reach] : files)
            if (reach == Reach::always && !names_[i].empty()) folders.insert(folder_of(i));
        for (std::size_t i = 0; i < elves_.size(); ++i)
            if (!names_[i].empty() && folders.contains(folder_of(i))) files.try_emplace(i, Reach::maybe);
    }

    // What a file needs is loaded with it.
    void follow_needed(std::map<std::size_t, Reach>& files) const {
        std::deque<std::size_t> queue;
        for (const auto& [i, reach] : files)
            queue.push_back(i);
        for (; !queue.empty(); queue.pop_front()) {
            const Reach reach = files.at(queue.front());
            for (const std::string& library : elves_[queue.front()].elf.needed) {
                const auto [first, last] = by_file_.equal_range(base::base_name(library));
                for (auto at = first; at != last; ++at) {
                    const auto [known, is_new] = files.try_emplace(at->second, reach);
                    if (!is_new && known->second >= reach) continue;
                    known->second = reach;
                    queue.push_back(at->second);
                }
            }
        }
    }

    // For each library of the wheel an extension module that loads it, for people.
    void find_users() {
        std::deque<std::size_t> queue;
        for (std::size_t i = 0; i < elves_.size(); ++i) {
            loaded_by_[i] = i;
            if (!names_[i].empty()) queue.push_back(i);
        }
        for (; !queue.empty(); queue.pop_front()) {
            for (const std::string& library : elves_[queue.front()].elf.needed) {
                const auto [first, last] = by_file_.equal_range(base::base_name(library));
                for (auto at = first; at != last; ++at) {
                    if (!names_[at->second].empty() || loaded_by_[at->second] != at->second) continue;
                    loaded_by_[at->second] = loaded_by_[queue.front()];
                    queue.push_back(at->second);
                }
            }
        }
    }

    // Code for AVX-512 is code for AVX, too.
    void note_level(std::size_t elf, Facts& facts) const {
        const VectorLevel level = elves_[elf].elf.vector_level;
        if (level >= VectorLevel::avx && facts.avx_code.empty()) facts.avx_code = name_of(elf);
        if (level >= VectorLevel::avx512 && facts.avx512_code.empty()) facts.avx512_code = name_of(elf);
        if (elves_[elf].elf.has_plain_sve && facts.sve_code.empty()) facts.sve_code = name_of(elf);
    }

    void note_functions(std::size_t elf, Reach reach, Facts& facts) {
        std::set<std::string_view>& known = functions_[reach == Reach::always ? 0 : 1];
        auto& into = reach == Reach::always ? facts.pypy_names : facts.pypy_later;
        for (const std::string& name : elves_[elf].elf.symbols.python.outside) {
            const bool is_of_pypy = name.starts_with("PyPy") || name.starts_with("_PyPy");
            if (is_of_pypy && known.size() < max_python_names && known.insert(name).second)
                into[name_of(elf)].push_back(name);
        }
    }

    [[nodiscard]] std::string name_of(std::size_t elf) const {
        return names_[elf].empty() ? elves_[elf].name : names_[elf];
    }

    const base::Reader& bytes_;
    const std::vector<ElfMember>& elves_;
    std::vector<std::string> names_;  // of the extension modules, by the number of the file
    std::vector<std::size_t> loaded_by_;
    std::multimap<std::string_view, std::size_t> by_file_;
    std::map<std::string, const Member*, std::less<>> sources_;
    std::vector<std::size_t> loose_libraries_;  // that are no modules: what Python code may open
    WheelModules modules_;
    std::set<std::string_view> functions_[2];  // those of PyPy that were noted, by need
    bool has_extensions_ = false;
};

}  // namespace

void gather_import_facts(const base::Reader& bytes, const Frame& frame, const wheel::WheelFilename& filename,
                         const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                         Facts& facts) {
    ReachedCode(bytes, frame, elves).gather(filename.project, provided, facts);
}

}  // namespace wheelyard::inspect
