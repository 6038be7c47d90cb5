// Joins our rules, which are embedded, with those of a site.
#include "builder/doctor/rule_book.hpp"

#include <algorithm>
#include <utility>

#include "builder/doctor/log_words.hpp"
#include "lib/base/check.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"

namespace wheelyard::builder {
namespace templates {  // rules/NAME.toml

extern const std::string_view machine, network, jobs, compilers, mpi, cuda, linkers, build_tools, sources,
    python, imports, general;

}  // namespace templates

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_rule_file_bytes = base::mib;

// The order in which they are asked: the first rule of a line wins, so specific ones come first.
std::vector<DoctorRule> read_ours() {
    RulesRead read;
    for (const std::string_view text :
         {templates::machine, templates::jobs, templates::network, templates::compilers, templates::mpi,
          templates::cuda, templates::linkers, templates::build_tools, templates::sources, templates::python,
          templates::imports, templates::general})
        read_rules(text, "rules", nullptr, read);
    WHEELYARD_CHECK(read.problems.empty());
    return std::move(read.fresh);
}

// Sorted by name; none where there is no such folder.
base::Result<std::vector<fs::path>> rule_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    if (!fs::exists(folder, error)) return files;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    if (error) return base::fail_errno("reading", folder.string(), error.value());
    std::sort(files.begin(), files.end());
    return files;
}

RulesRead read_site_rules(const fs::path& folder, const std::vector<DoctorRule>& ours) {
    RulesRead read;
    const auto files = rule_files(folder);
    if (!files) read.problems.push_back(files.error().text());
    for (const auto& file : files.value_or(std::vector<fs::path>())) {
        if (const auto text = base::read_file(file, max_rule_file_bytes)) {
            read_rules(*text, file, &ours, read);
        } else {
            read.problems.push_back(text.error().text());
        }
    }
    return read;
}

}  // namespace

struct RuleBook::Content {
    std::vector<DoctorRule> rules;
    std::vector<std::string> problems;
};

RuleBook::RuleBook(fs::path folder) : folder_(std::move(folder)) {}
RuleBook::~RuleBook() = default;

fs::path rules_beside(const fs::path& site_file) {
    return fs::absolute(site_file).lexically_normal().parent_path() / "doctor.d";
}

const RuleBook::Content& RuleBook::content() const {
    std::call_once(once_, [this] {
        auto all = std::make_unique<Content>();
        if (folder_.empty()) {
            all->rules = read_ours();
        } else {
            all->rules = ours()->rules();
            RulesRead read = read_site_rules(folder_, all->rules);
            for (auto& rule : read.overriding)
                *std::find_if(all->rules.begin(), all->rules.end(),
                              [&](const DoctorRule& one) { return one.code == rule.code; }) = std::move(rule);
            all->rules.insert(all->rules.begin(), read.fresh.begin(), read.fresh.end());
            all->problems = std::move(read.problems);
        }
        content_ = std::move(all);
    });
    return *content_;
}

const std::shared_ptr<const RuleBook>& RuleBook::ours() {
    static const std::shared_ptr<const RuleBook> book = std::make_shared<const RuleBook>();
    return book;
}

const std::vector<DoctorRule>& RuleBook::rules() const {
    return content().rules;
}

const std::vector<std::string>& RuleBook::problems() const {
    return content().problems;
}

const LogWords& RuleBook::words() const {
    std::call_once(words_once_, [this] { words_ = std::make_unique<const LogWords>(rules()); });
    return *words_;
}

const DoctorRule* RuleBook::find(std::string_view code) const {
    if (code.empty()) return nullptr;  // most failures: nothing to read
    const auto found = std::find_if(rules().begin(), rules().end(),
                                    [&](const DoctorRule& rule) { return rule.code == code; });
    return found == rules().end() ? nullptr : &*found;
}

}  // namespace wheelyard::builder
