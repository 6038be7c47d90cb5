// A queue of modules, each with how surely it is imported.
#include "lib/inspect/python/import_walk.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "lib/inspect/python/gone_names.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_all_source_bytes = 32 * base::mib;  // that one import reaches
constexpr std::size_t max_modules_read = 3'000;                 // torch's import reaches 1,200
constexpr std::size_t max_root_depth = 12;

class Walker {
  public:
    explicit Walker(const WheelModules& wheel) : wheel_(wheel) {}

    ImportWalk walk(const std::vector<std::string>& roots) {
        // Of several roots nobody imports all.
        for (const std::string& root : roots)
            walk_root(root, roots.size() == 1 ? Reach::plain : Reach::always, 0);
        if (changes_imports_) found_.gone.clear(), found_.foreign.clear();
        return std::move(found_);
    }

  private:
    void walk_root(const std::string& root, Reach how, std::size_t depth) {
        const auto module = wheel_.modules.find(root);
        const std::size_t before = seen_.size();
        if (module != wheel_.modules.end()) {
            reach(root, how);
            work();
            if (seen_.size() > before + 1 || !module->second.is_package || !module->second.extensions.empty())
                return;
        }
        const bool is_namespace = module == wheel_.modules.end();
        std::set<std::string> below;
        for (auto at = wheel_.modules.lower_bound(root + "."); at != wheel_.modules.end(); ++at) {
            if (!at->first.starts_with(root + ".")) break;
            const std::size_t dot = at->first.find('.', root.size() + 1);
            if (is_namespace || (dot == std::string::npos && !at->second.extensions.empty()))
                below.insert(at->first.substr(0, dot));
        }
        // pyzbar.pyzbar: the module of the same name is what an empty package is for.
        std::string same = root + "." + root.substr(root.rfind('.') + 1);
        if (wheel_.modules.contains(same)) below.insert(std::move(same));
        if (depth >= max_root_depth) return;
        const bool is_only_way = is_namespace && below.size() == 1;
        for (const std::string& child : below)
            walk_root(child, is_only_way ? how : std::min(how, is_namespace ? Reach::always : Reach::maybe),
                      depth + 1);
    }

    void work() {
        for (; !queue_.empty(); queue_.pop_front()) {
            const auto [name, how] = queue_.front();
            const auto& module = wheel_.modules.find(name)->second;
            mark_extensions(name, how);
            const ModuleSource* source = module.has_source ? source_of(name) : nullptr;
            if (source == nullptr) continue;
            found_.opens_libraries = found_.opens_libraries || source->opens_libraries;
            changes_imports_ = changes_imports_ || source->changes_imports;
            // Of an extension module beside a source of its name Python takes the former.
            const Reach most = module.extensions.empty() ? how : std::min(how, Reach::always);
            for (const Import& import : source->imports)
                walk_import(name, import, std::min(import.reach, most));
        }
    }

    // "a.b.c" imports a, a.b and a.b.c.
    void reach(std::string_view dotted, Reach how) {
        if (how == Reach::never) return mark_extensions(dotted, how);
        for (std::size_t dot = dotted.find('.');; dot = dotted.find('.', dot + 1)) {
            const auto module = wheel_.modules.find(dotted.substr(0, dot));
            if (module != wheel_.modules.end()) {
                const auto [known, is_new] = seen_.try_emplace(module->first, how);
                if (is_new || known->second < how) queue_.emplace_back(module->first, how);
                known->second = std::max(known->second, how);
            }
            if (dot == std::string_view::npos) return;
        }
    }

    const ModuleSource* source_of(const std::string& name) {
        if (const auto known = sources_.find(name); known != sources_.end()) return &known->second;
        const auto text = sources_.size() < max_modules_read ? wheel_.read(name) : std::nullopt;
        bytes_ += text ? text->size() : 0;
        if (!text || bytes_ > max_all_source_bytes) {
            found_.is_whole = false;
            return nullptr;
        }
        const bool is_package = wheel_.modules.find(name)->second.is_package;
        return &sources_.emplace(name, read_module_source(*text, name, is_package)).first->second;
    }

    void walk_import(const std::string& by, const Import& import, Reach how) {
        if (import.module.empty()) {  // what it names is not known: any extension module of the package
            const std::string top = by.substr(0, by.find('.'));
            if (!unknown_names_.emplace(top, how).second) return;
            mark_extensions(top, how);
            for (auto at = wheel_.modules.lower_bound(top + "."); at != wheel_.modules.end(); ++at) {
                if (!at->first.starts_with(top + ".")) break;
                mark_extensions(at->first, how);
            }
            return;
        }
        reach(import.module, how);
        // What another package calls so need not be a module of it.
        const Reach of_names = import.module == by ? how : std::min(how, Reach::always);
        for (const std::string& name : import.names)
            reach(import.module + "." + name, of_names);
        if (how == Reach::plain) note_outside(by, import.module);
    }

    void note_outside(const std::string& by, const std::string& module) {
        const std::string top = module.substr(0, module.find('.'));
        const auto own = wheel_.modules.lower_bound(top);
        const bool is_own = own != wheel_.modules.end() && own->first.starts_with(top) &&
                            (own->first.size() == top.size() || own->first[top.size()] == '.');
        if (is_own || (top == "distutils" && wheel_.modules.contains("_distutils_hack"))) return;
        const bool is_gone = gone_name(module) != nullptr;
        auto& into = is_gone ? found_.gone : found_.foreign;
        if ((is_gone || !is_standard_module(top)) && into.size() < max_outside_modules)
            into.emplace(is_gone ? module : top, by);
    }

    void mark_extensions(std::string_view name, Reach how) {
        const auto module = wheel_.modules.find(name);
        if (module == wheel_.modules.end()) return;
        for (const std::size_t file : module->second.extensions) {
            Reach& known = found_.files[file];
            known = std::max(known, std::min(how, Reach::always));
        }
    }

    const WheelModules& wheel_;
    ImportWalk found_;
    std::map<std::string, ModuleSource, std::less<>> sources_;
    std::map<std::string, Reach, std::less<>> seen_;
    std::deque<std::pair<std::string, Reach>> queue_;
    std::set<std::pair<std::string, Reach>> unknown_names_;  // of which package one was imported, and how
    bool changes_imports_ = false;
    std::uint64_t bytes_ = 0;
};

}  // namespace

ImportWalk walk_imports(const WheelModules& wheel, const std::vector<std::string>& roots) {
    return Walker(wheel).walk(roots);
}

}  // namespace wheelyard::inspect
