// The command `wheelyard-builder site init`, which writes a site file from what this machine reports.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>

#include "builder/command_output.hpp"
#include "builder/commands.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/site.hpp"
#include "builder/site/site_file.hpp"
#include "builder/survey/site_draft.hpp"
#include "builder/survey/site_like.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_answer_bytes = 4096;  // to a question of `site init`

namespace fs = std::filesystem;

constexpr const char* to_standard_output = "-";

std::string ask_on_terminal(const std::string& question, const std::string& fallback) {
    const auto last = question.rfind('\n') + 1;  // npos + 1 is 0
    const std::string problem = question.substr(0, last);
    for (const auto line : base::split_lines(problem))
        base::print(stderr, std::string(line) + "\n");
    base::print(stderr, question.substr(last) + (fallback.empty() ? "" : " [" + fallback + "]") + ": ");
    std::string answer;
    if (!std::getline(std::cin, answer) || answer.size() > max_answer_bytes) return fallback;
    const auto words = base::trim(answer);
    return words.empty() ? fallback : std::string(words);
}

// Refuses to replace an existing file, unless the person says so.
base::Status check_target(const Arguments& arguments, const fs::path& file) {
    std::error_code error;
    if (arguments.force || file == to_standard_output || !fs::exists(file, error)) return {};
    return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                         {"site.exists", "The file exists", file.string(),
                          "name another one with --to, or replace it with --force"});
}

// Without a batch system no line of the file could hold these options: they would be dropped in silence.
base::Status check_request(const SiteRequest& request, const Survey& survey) {
    if (survey.scheduler->batch || (request.queue.empty() && request.account.empty())) return {};
    return base::fail(
        "site.no_batch",
        "--queue and --account have no use: no batch system was found, and jobs are processes of "
        "this machine",
        request.queue.empty() ? request.account : request.queue,
        "put the batch system's programs (sbatch, qsub) on PATH, or leave these options out");
}

// What is wrong with an answer: the reader's sentence, without the place in a file that does not exist yet.
std::string what_is_wrong(const Survey& survey, const SiteRequest& request, const fs::path& file) {
    const auto& queues = survey.batch.queues;
    const bool is_known = std::any_of(queues.begin(), queues.end(),
                                      [&](const QueueSurvey& one) { return one.name == request.queue; });
    if (!request.queue.empty() && !queues.empty() && !is_known)
        return "There is no " + std::string(survey.scheduler->batch->queue_key) + " `" + request.queue + "`.";
    const auto read = parse_site(draft_site(survey, request).text, file);
    if (read) return "";
    const std::string text = read.error().text();
    const auto at = text.find("expected ");
    return at == std::string::npos ? text : text.substr(at);
}

void print_next_steps(const LikeDraft& like, const std::string& known, const fs::path& file) {
    const SiteDraft& draft = like.draft;
    std::string text = "wrote " + file.string() + "\n";
    if (!known.empty())
        text += "found here: " + base::join(like.found_here, ", ") + "\n" + "of " + known + ": " +
                base::join(like.of_site, ", ") + "\n";
    for (const auto& one : draft.fill_in)
        text += "fill in: " + base::printable_line(one) + "\n";
    text += "next: wheelyard-builder site check --site " + base::quote_shell(file.string()) + "\n";
    tell(text);
}

// The folder site-configs/common that belongs to this program: installed beside it, or of its source tree. Empty: none.
fs::path find_common_recipes(const fs::path& program) {
    std::error_code error;
    const fs::path bin = program.parent_path();
    for (const char* place : {"../share/wheelyard/site-configs/common", "../site-configs/common",
                              "../../../site-configs/common"}) {
        fs::path folder = (bin / place).lexically_normal();
        if (fs::is_directory(folder / "recipes", error)) return folder;
    }
    return {};
}

// One of the known sites beside `common`.
base::Result<KnownSite> find_known_site(const fs::path& common, const std::string& name) {
    std::vector<std::string> names;
    std::error_code error;
    const fs::path all = common.parent_path();
    for (const auto& one : fs::directory_iterator(all, error)) {
        if (fs::exists(one.path() / "site.toml", error)) names.push_back(one.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        const auto near = base::nearest(name, names);
        return base::fail(
            "site.not_known", "No known site has this name", name,
            (near ? "did you mean `" + *near + "`? Known: " : "known: ") + base::join(names, ", "));
    }
    WHEELYARD_ASSIGN(auto text, base::read_file(all / name / "site.toml", max_site_file_bytes));
    const fs::path recipes = all / name / "recipes";
    return KnownSite{name, std::move(text), fs::is_directory(recipes, error) ? recipes : fs::path()};
}

// "wheelyard.site-survey/1": what was found, the file, and what a person must fill in.
std::string render_survey_json(const Survey& survey, const SiteDraft& draft, const fs::path& file) {
    return io::Json::object({{"format", "wheelyard.site-survey/1"},
                             {"file", file == to_standard_output ? io::Json() : io::Json(file.string())},
                             {"fill_in", io::Json::array_of(draft.fill_in)},
                             {"found", json_of(survey)}})
        .render_pretty();
}

}  // namespace

int run_site_init(const Arguments& arguments) {
    const fs::path file = arguments.to.empty() ? fs::path("site.toml") : arguments.to;
    if (const auto free = check_target(arguments, file); !free) return complain(free.error(), exit_usage);
    SiteRequest request = arguments.request;
    std::error_code error;
    request.common_recipes = find_common_recipes(fs::read_symlink("/proc/self/exe", error));
    if (!request.folder.empty()) request.folder = fs::absolute(request.folder, error).lexically_normal();
    KnownSite known;
    if (!arguments.like.empty()) {
        auto found = find_known_site(request.common_recipes, arguments.like);
        if (!found) return complain(found.error(), exit_usage);
        known = std::move(*found);
    }
    const EnvironmentMap environment = base::current_environment();
    const Survey survey = survey_machine(environment);
    if (const auto useful = check_request(request, survey); !useful)
        return complain(useful.error(), exit_usage);
    // A requested value may be invalid: the reader says so before anything is asked or written.
    if (const auto read = parse_site(draft_site(survey, request).text, file); !read)
        return complain(read.error(), exit_usage);
    if (!arguments.yes && ::isatty(STDIN_FILENO) == 1) {
        request =
            complete_request(survey, std::move(request), ask_on_terminal,
                             [&](const SiteRequest& so_far) { return what_is_wrong(survey, so_far, file); });
    }
    const auto like = known.name.empty() ? base::Result<LikeDraft>({draft_site(survey, request), {}, {}})
                                         : draft_like(survey, request, known);
    if (!like) return complain(like.error(), exit_usage);
    const SiteDraft& draft = like->draft;
    if (const auto read = parse_site(draft.text, file); !read) return complain(read.error(), exit_usage);
    const int status = draft.fill_in.empty() ? exit_well : exit_failed;
    if (file == to_standard_output) {
        print(arguments.json ? render_survey_json(survey, draft, file) : draft.text);
        return status;
    }
    if (const auto written = base::replace_file(file, draft.text); !written)
        return complain(written.error(), exit_failed);
    const auto place = fs::absolute(file, error).lexically_normal();
    if (const auto noted = remember_site_file(environment, place); !noted)
        complain(noted.error(), exit_failed);
    if (arguments.json) {
        print(render_survey_json(survey, draft, file));
    } else {
        print_next_steps(*like, known.name, file);
    }
    return status;
}

}  // namespace wheelyard::builder
