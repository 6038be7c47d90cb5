// The command `wheelyard-builder site init`, which writes a site file from what this machine reports.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>

#include "builder/commands/commands.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/site.hpp"
#include "builder/site/site_file.hpp"
#include "builder/survey/site_draft.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

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
base::Status check_target(const InitOptions& options, const fs::path& file) {
    std::error_code error;
    if (options.force || file == to_standard_output || !fs::exists(file, error)) return {};
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

void print_next_steps(const SiteDraft& draft, const char* what, const fs::path& file) {
    std::string text = "wrote " + file.string() + "\n";
    for (const auto& one : draft.fill_in)
        text += what + base::printable_line(one) + "\n";
    text += "next: wheelyard-builder site check --site " + base::quote_shell(file.string()) + "\n";
    tell(text);
}

// The folder site-configs/common that belongs to this program: installed beside it, or of its source tree.
// Empty: none.
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

// The keys whose values are one site's alone, as absolute paths are.
constexpr std::string_view own_keys[] = {"url", "index", "promote_to", "account", "partition", "queue"};

// The lines of a known site's file that a person must look at: "13: index = …".
std::vector<std::string> lines_of_one_site(const std::string& text) {
    std::vector<std::string> found;
    std::size_t number = 0;
    for (const auto line : base::split_lines(text)) {
        ++number;
        const auto key = line.substr(0, line.find(" = "));
        const bool is_own = std::find(std::begin(own_keys), std::end(own_keys), key) != std::end(own_keys);
        const bool is_name = line.starts_with("name = ") && found.empty();  // the site's, before all tables
        const bool has_path = !line.starts_with('#') && line.find("\"/") != std::string_view::npos;
        if (is_own || is_name || has_path) found.push_back(std::to_string(number) + ": " + std::string(line));
    }
    return found;
}

// The file of a known site beside `common`, with its comments; what it names by a relative path stays where
// it is. Its other stack does not go along: paths in a stack are relative to the site file.
base::Result<SiteDraft> copy_known_site(const fs::path& common, const std::string& name) {
    std::vector<std::string> names;
    std::error_code error;
    const fs::path all = common.parent_path();
    for (const auto& one : fs::directory_iterator(all, error)) {
        if (fs::exists(one.path() / "site.toml", error)) names.push_back(one.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        const auto near = name.empty() ? std::nullopt : base::nearest(name, names);
        return base::fail(
            "site.not_known",
            name.empty() ? "--like takes the name of a known site" : "No known site has this name", name,
            (near ? "did you mean `" + *near + "`? Known: " : "known: ") + base::join(names, ", "));
    }
    WHEELYARD_ASSIGN(const auto text, base::read_file(all / name / "site.toml", max_site_file_bytes));
    std::string copy;
    for (const auto line : base::split_lines(text)) {
        if (!line.starts_with("# stack = ")) copy += std::string(line) + "\n";
    }
    auto look_at = lines_of_one_site(copy);
    copy = base::replace_all(copy, "\"../common/", "\"" + common.string() + "/");
    copy = base::replace_all(copy, "\"recipes\"", "\"" + (all / name / "recipes").string() + "\"");
    return SiteDraft{std::move(copy), std::move(look_at)};
}

// "wheelyard.site-survey/1": what was found, the file, and what a person must fill in.
std::string render_survey_json(io::Json found, const SiteDraft& draft, const fs::path& file) {
    return io::Json::object({{"format", "wheelyard.site-survey/1"},
                             {"file", file == to_standard_output ? io::Json() : io::Json(file.string())},
                             {"fill_in", io::Json::array_of(draft.fill_in)},
                             {"found", std::move(found)}})
        .render_pretty();
}

// What the machine reports and, on a terminal, a person answers. `found` becomes the survey.
base::Result<SiteDraft> draft_by_survey(const InitOptions& options, const fs::path& common,
                                        const fs::path& file, io::Json& found) {
    SiteRequest request = options.request;
    request.common_recipes = common;
    std::error_code error;
    if (!request.folder.empty()) request.folder = fs::absolute(request.folder, error).lexically_normal();
    const Survey survey = survey_machine(base::current_environment());
    found = json_of(survey);
    WHEELYARD_TRY(check_request(request, survey));
    // A requested value may be invalid: the reader says so before anything is asked or written.
    WHEELYARD_TRY(parse_site(draft_site(survey, request).text, file));
    if (!options.yes && ::isatty(STDIN_FILENO) == 1) {
        request =
            complete_request(survey, std::move(request), ask_on_terminal,
                             [&](const SiteRequest& so_far) { return what_is_wrong(survey, so_far, file); });
    }
    return draft_site(survey, request);
}

}  // namespace

int run_site_init(const InitOptions& options) {
    const fs::path file = options.to.empty() ? fs::path("site.toml") : options.to;
    if (const auto free = check_target(options, file); !free) return complain(free.error(), exit_usage);
    if (options.like && options.request != SiteRequest())
        return complain({"site.like_alone", "--like copies a file as it is: no option says what is in it",
                         *options.like, "change the lines that it lists, or leave --like out"},
                        exit_usage);
    std::error_code error;
    const fs::path common = find_common_recipes(fs::read_symlink("/proc/self/exe", error));
    io::Json found;
    const auto draft =
        options.like ? copy_known_site(common, *options.like) : draft_by_survey(options, common, file, found);
    if (!draft) return complain(draft.error(), exit_usage);
    if (const auto read = parse_site(draft->text, file); !read) return complain(read.error(), exit_usage);
    const int status = draft->fill_in.empty() ? exit_well : exit_failed;
    if (file == to_standard_output) {
        print(options.json ? render_survey_json(found, *draft, file) : draft->text);
        return status;
    }
    if (const auto written = base::replace_file(file, draft->text); !written)
        return complain(written.error(), exit_failed);
    const auto place = fs::absolute(file, error).lexically_normal();
    if (const auto noted = remember_site_file(base::current_environment(), place); !noted)
        complain(noted.error(), exit_failed);
    if (options.json) {
        print(render_survey_json(found, *draft, file));
    } else {
        print_next_steps(*draft, options.like ? "look at line " : "fill in: ", file);
    }
    return status;
}

}  // namespace wheelyard::builder
