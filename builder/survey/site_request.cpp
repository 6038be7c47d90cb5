// What a person decides about a new site file, by flags or by answers on a terminal.
#include "builder/survey/site_draft.hpp"

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_listed = 12;     // names in one comment of a draft
constexpr int max_asked_again = 20;        // a question of `site init`, of which each answer was wrong
constexpr std::size_t max_site_name = 64;  // as the reader of site.toml accepts

}  // namespace

std::string some_of(const std::vector<std::string>& texts) {
    if (texts.size() <= max_listed) return base::join(texts, ", ");
    return base::join({texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(max_listed)}, ", ") +
           " and " + std::to_string(texts.size() - max_listed) + " more";
}

std::string site_name_of(std::string_view text) {
    std::string name;
    for (const char c : base::ascii_lower(text)) {
        const bool valid = base::is_ascii_alnum(c) || ((c == '-' || c == '_' || c == '.') && !name.empty());
        if (valid) {
            name += c;
        } else if (!name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    while (name.ends_with('-'))
        name.pop_back();
    return name.substr(0, max_site_name);
}

std::string suggested_name(const Survey& survey) {
    if (auto name = site_name_of(survey.batch.cluster); !name.empty()) return name;
    // "login03" and "login04" are one site.
    std::string host = survey.host;
    while (!host.empty() && base::is_ascii_digit(host.back()))
        host.pop_back();
    const auto name = site_name_of(host);
    return name.empty() ? "site" : name;
}

SiteRequest complete_request(const Survey& survey, SiteRequest request, const AskPerson& ask,
                             const CheckRequest& check) {
    const auto ask_if_empty = [&](std::string& value, const std::string& question,
                                  const std::string& fallback) {
        if (!value.empty()) return;
        std::string problem;
        for (int tries = 0; tries < max_asked_again; ++tries) {
            value = ask(problem.empty() ? question : problem + "\n" + question, fallback);
            problem = check ? check(request) : "";
            if (problem.empty()) return;
        }
    };
    ask_if_empty(request.name, "Name of the site", suggested_name(survey));
    ask_if_empty(request.registry, "URL of the registry (empty: none, wheels stay on this machine)", "");
    if (!request.registry.empty()) {
        ask_if_empty(request.index, "Index", request.name);
        ask_if_empty(request.token_file, "File with the registry's token", request.index + ".token");
    }
    if (!survey.scheduler->batch) return request;
    std::vector<std::string> open;
    for (const auto& queue : survey.batch.queues) {
        if (queue.closed.empty()) open.push_back(queue.name);
    }
    const QueueSurvey* usual = survey.batch.default_queue();
    ask_if_empty(request.queue,
                 std::string(survey.scheduler->batch->queue_key) + " for builds (" + some_of(open) + ")",
                 usual == nullptr ? "" : usual->name);
    const auto& accounts = survey.batch.accounts;
    ask_if_empty(request.account,
                 "Account that jobs are charged to (" + (accounts.empty() ? "none" : some_of(accounts)) + ")",
                 accounts.size() == 1 ? accounts.front() : "");
    return request;
}

}  // namespace wheelyard::builder
