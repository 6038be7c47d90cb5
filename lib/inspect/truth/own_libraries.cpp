// Loads each extension module as the dynamic linker does: it, then what it needs, then what these need.
#include "lib/inspect/truth/own_libraries.hpp"

#include <algorithm>
#include <map>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/installed_tree.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/inspect/truth/manylinux.hpp"
#include "lib/inspect/truth/tag_truth.hpp"

namespace wheelyard::inspect {
namespace {

// Of one wheel: libraries that are loaded, and folders that are looked into for them. PySide's 60 modules make
// some ten thousand. Beyond it nothing is said.
constexpr std::size_t max_steps = 2'000'000;
constexpr std::size_t folder_bytes = 100;  // a longer folder counts several times

class Loader {
  public:
    explicit Loader(const std::vector<ElfMember>& elves) : elves_(elves) {
        for (std::size_t i = 0; i < elves.size(); ++i) {
            places_.push_back(installed_at(elves[i].name));
            if (elves[i].elf.kind == ElfKind::shared && !elves[i].elf.is_device)
                by_place_.emplace(places_.back(), i);
            names_.emplace(base::base_name(elves[i].name));
            if (!elves[i].elf.soname.empty()) names_.insert(elves[i].elf.soname);
        }
    }

    std::set<LibraryNeed> load_all() {
        for (std::size_t i = 0; i < elves_.size() && steps_ < max_steps; ++i)
            if (is_extension(elves_[i])) load(i);
        if (steps_ >= max_steps) return {};
        std::erase_if(unfound_, [&](const LibraryNeed& need) { return loaded_.contains(need.second); });
        return std::move(unfound_);
    }

  private:
    struct Object {
        std::size_t file, loader;  // the latter as a number of the list; that of the first is its own
    };

    void load(std::size_t extension) {
        std::vector<Object> list{{extension, 0}};
        // An extension module may have a SONAME: what needs it later gets the one that is loaded.
        const std::string& own_name = elves_[extension].elf.soname;
        std::set<std::string_view> names{own_name};
        loaded_.insert(own_name);
        for (std::size_t at = 0; at < list.size(); ++at) {
            const ElfMember& member = elves_[list[at].file];
            const bool is_musl = c_libraries(member).contains("musl");
            for (const std::string& library : member.elf.needed) {
                if (++steps_ >= max_steps) return;
                // The C library's parts, what is not of the wheel, and what has a path are no matter here.
                if (!names_.contains(library) || is_part_of_glibc(library) || names.contains(library))
                    continue;
                const auto file = find(list, at, library, is_musl);
                if (!file) {
                    unfound_.emplace(member.name, library);
                    continue;
                }
                list.push_back({*file, at});
                for (const std::string_view name :
                     {std::string_view(library), std::string_view(elves_[*file].elf.soname)}) {
                    names.insert(name);
                    loaded_.insert(name);
                }
            }
        }
    }

    [[nodiscard]] std::optional<std::size_t> find(const std::vector<Object>& list, std::size_t object,
                                                  std::string_view library, bool is_musl) {
        const ElfMember& member = elves_[list[object].file];
        const bool has_own_paths = member.elf.has_runpath && !is_musl;
        for (std::size_t at = object;; at = list[at].loader) {
            const ElfMember& owner = elves_[list[at].file];
            const bool counts = has_own_paths || is_musl || !owner.elf.has_runpath;
            for (const std::string& path : owner.elf.search_paths) {
                steps_ += 1 + path.size() / folder_bytes;
                if (steps_ >= max_steps) return std::nullopt;
                const auto rest = counts ? after_origin(path) : std::nullopt;
                const auto folder = rest ? folder_from(places_[list[at].file], *rest) : std::nullopt;
                if (!folder) continue;
                const auto found = by_place_.find(*folder + std::string(library));
                if (found != by_place_.end() &&
                    elves_[found->second].elf.machine_number == member.elf.machine_number)
                    return found->second;
            }
            if (has_own_paths || at == 0) return std::nullopt;
        }
    }

    const std::vector<ElfMember>& elves_;
    std::vector<std::string> places_;  // of the files
    std::map<std::string, std::size_t, std::less<>> by_place_;
    std::set<std::string_view, std::less<>> names_, loaded_;
    std::set<LibraryNeed> unfound_;
    std::size_t steps_ = 0;
};

}  // namespace

std::string installed_at(std::string_view member) {
    const InstalledPath path = installed_path(member);
    switch (path.folder) {
        case InstallFolder::site:
            return "lib/python/site-packages/" + std::string(path.path);
        case InstallFolder::standard:
            return "lib/python/" + std::string(path.path);
        case InstallFolder::programs:
            return "bin/" + std::string(path.path);
        case InstallFolder::prefix:
            return std::string(path.path);
        case InstallFolder::headers:
        case InstallFolder::none:
            break;
    }
    return {};
}

std::optional<std::string> folder_from(std::string_view installed, std::string_view rest) {
    std::vector<std::string_view> parts;
    const std::string_view folder = installed.substr(0, installed.size() - base::base_name(installed).size());
    for (const std::string_view text : {folder, rest}) {
        for (const std::string_view part : base::split(text, '/')) {
            if (part.empty() || part == ".") continue;
            if (part != "..") {
                parts.push_back(part);
            } else {
                if (parts.empty()) return std::nullopt;
                parts.pop_back();
            }
        }
    }
    std::string found;
    for (const std::string_view part : parts)
        found.append(part).append("/");
    return found;
}

bool is_extension(const ElfMember& member) {
    if (member.elf.kind != ElfKind::shared || member.elf.is_device || !member.name.ends_with(".so"))
        return false;
    return module_suffix(member.name).has_value() || member.elf.symbols.python.count != 0;
}

std::set<LibraryNeed> unfound_libraries(const std::vector<ElfMember>& elves) {
    return Loader(elves).load_all();
}

}  // namespace wheelyard::inspect
