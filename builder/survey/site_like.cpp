#include "builder/survey/site_like.hpp"

#include <algorithm>
#include <optional>

#include "builder/survey/site_draft_parts.hpp"
#include "builder/survey/table_text.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/toml.hpp"

namespace wheelyard::builder {
namespace {

// "pawsey0001-gpu" and "m1234_g" are accounts of these projects.
std::string project_of(const std::string& account) {
    for (const std::string_view suffix : {"-gpu", "_g"}) {
        if (account.ends_with(suffix)) return account.substr(0, account.size() - suffix.size());
    }
    return account;
}

std::string label_of_name(const std::string& name) {
    std::string label;
    std::copy_if(name.begin(), name.end(), std::back_inserter(label), base::is_ascii_alnum);
    return label;
}

class Like : private DraftText {
  public:
    Like(const Survey& survey, const SiteRequest& request, const KnownSite& known, const io::Json& values)
        : survey_(survey),
          request_(request),
          known_(known),
          own_(tables_of(draft_site(survey, request).text)),
          theirs_(tables_of(known.text)),
          project_(project_of(text_in(values, "scheduler", "account"))),
          their_label_(values.string_or("label", "")) {
        for (const auto& line : own_.front().lines) {
            if (key_of(line) == "name") label_ = label_of_name(texts_of(line).at(0));
        }
    }

    LikeDraft write() {
        write_head();
        for (const char* table : {"registry", "state", "work"})
            write_own(table);
        write_scheduler();
        choose_accelerators();
        choose_python();
        for (const TableText& table : theirs_)
            write_theirs(table);
        for (const char* table :
             {"modules", "compilers", "mpi", "network", "network.proxies", "accelerator", "node", "python"})
            write_own(table);  // where the known site has none
        list_fill_in();
        return {std::move(draft), std::move(found_here_), std::move(of_site_)};
    }

    static std::string text_in(const io::Json& values, std::string_view table, std::string_view key) {
        const io::Json* there = values.find(table);
        return there == nullptr ? "" : there->string_or(key, "");
    }

  private:
    static void list(std::vector<std::string>& names, const TableText& table) {
        if (std::find(names.begin(), names.end(), table.name()) == names.end()) names.push_back(table.name());
    }

    void write_head() {
        note("Like " + known_.name + ": what was not found here is from its file.");
        for (const auto& line_of_root : own_.front().lines) {
            if (key_of(line_of_root) == "recipes" && !known_.recipes.empty()) {
                auto folders = texts_of(line_of_root);
                folders.push_back(known_.recipes.string());
                set("recipes", toml_list(folders));
                continue;
            }
            line(line_of_root);
            if (key_of(line_of_root) == "name" && !their_label_.empty()) set("label", toml_text(label_));
        }
    }

    // All tables of this name, once.
    void write_own(const std::string& name) {
        if (std::find(written_.begin(), written_.end(), name) != written_.end()) return;
        written_.push_back(name);
        for (const TableText& one : own_) {
            if (one.name() == name && !(name == "accelerator" && leave_out_own(one)))
                write_lines(one, found_here_);
        }
    }

    void write_lines(const TableText& one, std::vector<std::string>& origin) {
        list(origin, one);
        line("");
        for (const auto& text : one.above)
            line(text);
        line(one.header);
        for (const auto& text : one.lines)
            line(text);
    }

    // What a machine demands of every job, which nothing but a guide or a neighbour says.
    void write_scheduler() {
        for (TableText one : own_) {
            if (one.header != "[scheduler]") continue;
            for (const TableText& theirs : theirs_) {
                for (const auto& text : theirs.lines) {
                    const auto key = key_of(text);
                    const bool is_demand = key == "options" || key == "not_asked";
                    const bool is_size = key == "cores" || key.ends_with("memory_mib");
                    if (theirs.header == "[scheduler]" && is_size)
                        one.lines.push_back("# " + text + "  # of " + known_.name +
                                            ", whose `options` these are");
                    if (theirs.header == "[scheduler]" && (key == "options" || key == "gpus"))
                        one.lines.push_back((key == "gpus" && !has_gpus_in(one) ? "# " : "") + text +
                                            "  # of " + known_.name);
                    if (theirs.header == "[[node]]" && is_demand)
                        one.lines.push_back(
                            "# FILL IN: if your jobs need it, too, move it into their [[node]]: " + text +
                            "  # of " + known_.name);
                }
            }
            write_lines(one, found_here_);
        }
    }

    // Whether the queue that builds go to may have GPUs.
    [[nodiscard]] bool has_gpus_in(const TableText& scheduler) const {
        std::string queue;
        for (const auto& text : scheduler.lines) {
            if (key_of(text) == survey_.scheduler->batch->queue_key) queue = texts_of(text).at(0);
        }
        const auto& nodes = survey_.batch.nodes;
        return nodes.empty() || std::any_of(nodes.begin(), nodes.end(), [&](const NodeSurvey& one) {
                   return one.gpus > 0 && (one.queue.empty() || one.queue == queue);
               });
    }

    static std::string name_in(const TableText& table) {
        for (const auto& text : table.lines) {
            if (key_of(text) == "name") return texts_of(text).at(0);
        }
        return "";
    }

    // Theirs, where a type of GPU is the same or none was found here; beside them what was found here and they lack.
    void choose_accelerators() {
        bool found = false;
        for (const TableText& one : own_)
            found = found || (one.header == "[[accelerator]]" && name_in(one) != "cpu");
        takes_accelerators_ = !found;
        for (const TableText& theirs : theirs_) {
            if (theirs.header != "[[accelerator]]") continue;
            their_accelerators_.push_back(name_in(theirs));
            for (const TableText& one : own_)
                takes_accelerators_ = takes_accelerators_ || (one.header == "[[accelerator]]" &&
                                                              name_in(one) == their_accelerators_.back());
        }
        asks_for_accelerators_ = !found;
    }
    [[nodiscard]] bool leave_out_own(const TableText& one) const {
        if (!takes_accelerators_) return false;
        const std::string name = name_in(one);
        return name == "cpu" || std::find(their_accelerators_.begin(), their_accelerators_.end(), name) !=
                                    their_accelerators_.end();
    }

    // Theirs, where each of its modules is here; else what was found.
    void choose_python() {
        for (const TableText& theirs : theirs_) {
            if (theirs.header != "[[python]]") continue;
            bool has_modules = false;
            for (const auto& text : theirs.lines) {
                if (key_of(text) == "conda") return;
                if (key_of(text) != "modules") continue;
                const auto names = texts_of(text);
                has_modules = std::all_of(names.begin(), names.end(),
                                          [&](const std::string& one) { return module_here(one) == one; });
            }
            takes_python_ = has_modules;
        }
    }

    void write_theirs(const TableText& table) {
        if (table.header.empty() || table.is("registry") || table.is("state") || table.is("work") ||
            table.is("scheduler") || table.is("versions"))
            return;
        if (table.is("node")) return write_own("accelerator"), write_own("node");
        if (table.is("python") && !takes_python_) return write_own("python");
        if (table.is("accelerator") && !takes_accelerators_) return write_own("accelerator");
        if (table.is("compilers") && !has_their_compiler(table)) return write_own("compilers");
        if (table.is("hardware_tests") && request_.registry.empty())
            return line(""), note(table.header + "  # of " + known_.name + ", with a [registry]");
        if (!table.is("accelerator")) written_.push_back(table.name());
        line("");
        list(of_site_, table);
        for (const auto& text : table.above)
            line(text);
        if (table.header == "[[accelerator]]" && asks_for_accelerators_)
            fill_in("`" + name_in(table) + "` is what " + known_.name +
                    " builds for; is it what nodes here have?");
        line(table.header);
        for (const auto& text : table.lines)
            write_line(table, text);
    }

    [[nodiscard]] bool has_their_compiler(const TableText& table) const {
        for (const auto& text : table.lines) {
            const auto named = texts_of(text);
            if (key_of(text) == "c" && !named.empty())
                return survey_.has_program(named[0].substr(0, named[0].find(' ')));
        }
        return true;
    }

    void write_line(const TableText& table, const std::string& text) {
        const auto key = key_of(text);
        if (table.is("modules") && (key == "init" || key == "use")) return write_modules_key(key, text);
        if (table.header == "[modules]" && key == "load") return write_modules(text);
        if (key == "modules" && (table.is("accelerator") || table.is("python"))) return write_modules(text);
        if (table.is("hardware_tests") && (key == "account" || is_queue_elsewhere(key, text)))
            return note(text + "  # of " + known_.name);
        if (!takes_accelerators_ && (key == "accelerators" || key == "accelerator"))
            return note(text + "  # of " + known_.name);
        if (table.is("users") && key == "directory") return write_users_folder(table);
        if (key == "label" && !their_label_.empty() && texts_of(text) == std::vector{their_label_})
            return set("label", toml_text(label_));
        if (table.is("users") && key == "requirements" && !their_label_.empty())
            return line(base::replace_all(text, "+" + their_label_ + "\"", "+" + label_ + "\""));
        if (!project_.empty() && text.find(project_) != std::string::npos && !text.starts_with('#'))
            fill_in("the next line names " + project_ + ", a project of " + known_.name);
        line(text);
    }

    [[nodiscard]] bool is_queue_elsewhere(std::string_view key, const std::string& text) const {
        if (key != survey_.scheduler->batch->queue_key) return false;
        const auto named = texts_of(text);
        return named.empty() || queue_of(survey_, named[0]) == nullptr;
    }

    void write_users_folder(const TableText& table) {
        std::string state, module;
        for (const TableText& one : own_) {
            for (const auto& text : one.lines) {
                if (one.header == "[state]" && key_of(text) == "directory") state = texts_of(text).at(0);
            }
        }
        for (const auto& text : table.lines) {
            if (key_of(text) == "module") module = texts_of(text).at(0);
        }
        const std::filesystem::path place = std::filesystem::path(state).parent_path() / module;
        set("directory", toml_text(place.string()), "users need to read it");
    }

    void write_modules_key(std::string_view key, const std::string& theirs) {
        if (survey_.modules.init.empty()) return line(theirs);
        if (key == "init") {
            set("init", toml_text(survey_.modules.init), "found here");
            if (!survey_.modules.use.empty()) set("use", toml_list(survey_.modules.use), "found here");
        }
    }

    // The module of this name that is here: the same version, else the default, else the last one.
    [[nodiscard]] std::optional<std::string> module_here(const std::string& wanted) const {
        const AvailableModule* best = nullptr;
        const std::string name = wanted.substr(0, wanted.rfind('/'));
        for (const AvailableModule& one : survey_.modules.available) {
            if (one.full_name() == wanted || (name == wanted && one.name == wanted)) return wanted;
            if (one.name == name && (best == nullptr || !best->is_default)) best = &one;
        }
        return best == nullptr ? std::nullopt : std::optional(best->full_name());
    }

    static bool is_toolkit(const std::string& module) {
        const AvailableModule one{module.substr(0, module.rfind('/')), ""};
        const auto kinds = accelerator::accelerator_kinds();
        return std::any_of(kinds.begin(), kinds.end(), [&](const accelerator::AcceleratorKind* kind) {
            return !modules_of(ModuleRole::toolkit(*kind), {one}).empty();
        });
    }

    void write_modules(const std::string& text) {
        const std::string key(key_of(text));
        if (survey_.modules.available.empty()) {
            fill_in("no modules were found here; these are those of " + known_.name);
            return line(text);
        }
        std::vector<std::string> here, others;
        for (const auto& wanted : texts_of(text)) {
            const auto found = module_here(wanted);
            if (!found) {
                fill_in("`" + wanted + "`, a module of " + known_.name +
                        ", is not here: name the one that does its work, or none");
                continue;
            }
            if (*found != wanted) others.push_back(wanted);
            here.push_back(*found);
        }
        for (const auto& other : others) {
            if (is_toolkit(other))
                fill_in("`label` of the accelerators and the versions below are for " + other + " of " +
                        known_.name);
        }
        set(key, toml_list(here), others.empty() ? "" : "in " + known_.name + " " + base::join(others, ", "));
    }

    void list_fill_in() {
        draft.fill_in.clear();
        constexpr std::string_view mark = "# FILL IN: ";
        for (const auto line : base::split_lines(draft.text)) {
            if (line.starts_with(mark)) draft.fill_in.emplace_back(line.substr(mark.size()));
        }
    }

    const Survey& survey_;
    const SiteRequest& request_;
    const KnownSite& known_;
    std::vector<TableText> own_, theirs_;
    std::string project_, their_label_, label_;
    std::vector<std::string> their_accelerators_, written_, found_here_, of_site_;
    bool takes_accelerators_ = false, asks_for_accelerators_ = false, takes_python_ = false;
};

}  // namespace

base::Result<LikeDraft> draft_like(const Survey& survey, SiteRequest request, const KnownSite& known) {
    WHEELYARD_ASSIGN(const auto document, io::TomlDocument::parse(known.text, known.name + "/site.toml"));
    const io::Json values = document.json();
    const std::string kind = Like::text_in(values, "scheduler", "kind");
    if (kind != survey.scheduler->name || !survey.scheduler->batch)
        return base::fail("site.other_batch",
                          survey.scheduler->batch
                              ? "The known site has another batch system than this machine"
                              : "This machine has no batch system, which a file like a known site's needs",
                          known.name + ": " + kind + ", here: " + std::string(survey.scheduler->name),
                          "choose a known site with this one's, or leave --like out");
    const std::string queue = Like::text_in(values, "scheduler", survey.scheduler->batch->queue_key);
    for (const io::Json& node : values.items("node")) {
        const QueueSurvey* same = queue_of(survey, queue.empty() ? node.string_or("queue", "") : queue);
        if (request.queue.empty() && same != nullptr && same->closed.empty()) request.queue = same->name;
    }
    return Like(survey, request, known, values).write();
}

}  // namespace wheelyard::builder
