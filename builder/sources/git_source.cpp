// Runs git, and defines when a clone is complete.
#include "builder/sources/git_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "builder/attempt/limits.hpp"
#include "builder/attempt/temporary_files.hpp"
#include "builder/doctor/doctor.hpp"
#include "builder/sources/login_step.hpp"
#include "builder/sources/source_cache.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::builder {
namespace templates {  // templates/NAME

// Prints HEAD and each submodule's commit, one per line. Fails if a submodule is not at its commit or a file
// differs.
extern const std::string_view describe_tree;

}  // namespace templates

namespace {

constexpr std::int64_t git_ask_timeout_ms = 20'000;  // checking whether a clone is current

// Checking every file of a clone on a slow file system; less than lock_stale_after_ms.
constexpr std::int64_t git_check_timeout_ms = 5 * 60'000;

namespace fs = std::filesystem;

std::string repository_name(const std::string& url) {
    std::string name(base::base_name(url));
    if (name.ends_with(".git")) name.resize(name.size() - 4);
    const bool plain =
        !name.empty() && !name.starts_with('.') && std::all_of(name.begin(), name.end(), [](char c) {
            return base::is_ascii_alnum(c) || std::string_view("._-").find(c) != std::string_view::npos;
        });
    return plain ? name : "repository";
}

std::string tag_of(const Recipe& recipe, const std::string& version) {
    return base::replace_all(recipe.tag, "{version}", without_label(version));
}

base::Result<base::Finished> bash_in(const fs::path& folder, const std::string& script,
                                     const EnvironmentMap& environment) {
    base::Command command;
    command.argv = {"/bin/bash", "-eu", "-o", "pipefail", "-c", script};
    command.directory = folder;
    command.environment = environment;
    command.timeout_ms = git_check_timeout_ms;
    return base::run_command(command);
}

}  // namespace

std::vector<wheel::Version> versions_of_tags(std::string_view listing, std::string_view pattern) {
    const auto at = pattern.find("{version}");
    if (at == std::string_view::npos) return {};  // a tag or branch of one version
    const std::string before = "refs/tags/" + std::string(pattern.substr(0, at));
    const std::string_view after = pattern.substr(at + std::string_view("{version}").size());
    std::vector<wheel::Version> versions;
    for (const auto line : base::split_lines(listing)) {
        std::string_view name = line.substr(std::min(line.size(), line.find('\t') + 1));
        if (!name.starts_with(before) || !name.ends_with(after) || name.size() < before.size() + after.size())
            continue;
        name = name.substr(before.size(), name.size() - before.size() - after.size());
        if (const auto version = wheel::Version::parse(name)) versions.push_back(*version);
    }
    return versions;
}

std::string commit_in(std::string_view listing, std::string_view tag) {
    const std::string name(tag);
    for (const auto& ref : {"refs/heads/" + name, "refs/tags/" + name + "^{}", "refs/tags/" + name}) {
        for (const auto line : base::split_lines(listing)) {
            const auto tab = line.find('\t');
            if (tab != std::string_view::npos && line.substr(tab + 1) == ref)
                return std::string(line.substr(0, tab));
        }
    }
    return "";
}

GitSource::GitSource(const fs::path& sources, EnvironmentMap environment, base::Clock& clock,
                     std::int64_t max_walltime_minutes, std::int64_t list_timeout_ms)
    : directory_(sources / "git"),
      environment_(std::move(environment)),
      clock_(clock),
      max_walltime_minutes_(max_walltime_minutes),
      list_timeout_ms_(list_timeout_ms) {
    environment_["GIT_TERMINAL_PROMPT"] = "0";  // no terminal: git must fail instead of prompting
}

base::Result<std::vector<wheel::Version>> GitSource::versions(const Recipe& recipe) const {
    base::Command command;
    command.argv = {"git", "ls-remote", "--tags", "--refs", "--", recipe.url};
    command.environment = environment_;
    command.timeout_ms = list_timeout_ms_;
    WHEELYARD_ASSIGN(const auto answer, base::run_command(command));
    if (answer.timed_out) {
        base::Error error{
            "http.git",
            "git cannot list the tags: no answer within " + base::render_duration_ms(list_timeout_ms_),
            recipe.url};
        error.os_error = ETIMEDOUT;
        return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry, std::move(error));
    }
    if (answer.exit_code != 0) {
        return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry,
                             {"http.git", "git cannot list the tags: " + last_words(answer.err), recipe.url});
    }
    return versions_of_tags(answer.out, recipe.tag);
}

base::Result<SourceRecord> GitSource::fetch(const Recipe& recipe, const std::string& version,
                                            const base::KeepAlive& keep_alive) {
    return fetch(recipe.url, tag_of(recipe, version), keep_alive);
}

base::Result<SourceRecord> GitSource::fetch(const std::string& url, const std::string& tag,
                                            const base::KeepAlive& keep_alive) {
    SourceRecord source;
    source.kind = "git";
    source.origin = url + "@" + tag;
    source.filename = repository_name(url) + "-" + base::sha256_hex(source.origin).substr(0, 12);
    const fs::path folder = directory_ / source.filename;
    if (is_outdated(folder, url, tag))
        WHEELYARD_TRY(free_space(folder, keep_alive));  // the clone is outdated
    // The trap removes an incomplete clone: the next try cannot use it, and trim_cache() does not count it.
    const std::string clone =
        "trap 'test -e commit || rm -rf tree' EXIT\nrm -rf tree\ngit clone --quiet --depth 1 --branch " +
        base::quote_shell(tag) + " --recurse-submodules --shallow-submodules --jobs 4 -- " +
        base::quote_shell(url) + " tree" + std::string(templates::describe_tree);
    WHEELYARD_TRY(
        advance_login_step({folder, "clone", "exec > commit.tmp\n" + clone + "mv commit.tmp commit\n",
                            environment_, "cloning " + source.origin, max_walltime_minutes_ * 60},
                           clock_));
    WHEELYARD_ASSIGN(const auto commit, base::read_untrusted_file(folder / "commit", max_record_bytes));
    mark_used(folder);
    source.sha256 = base::sha256_hex(commit);
    source.origin += " (" + commit.substr(0, commit.find('\n')) + ")";
    return source;
}

// Says whether the remote's branch or tag has moved. If the remote does not answer, the clone counts as
// current.
bool GitSource::is_outdated(const fs::path& folder, const std::string& url, const std::string& tag) const {
    const auto whole = base::read_untrusted_file(folder / "commit", max_record_bytes);
    if (!whole) return false;
    base::Command command;
    command.argv = {
        "git", "ls-remote", "--", url, "refs/heads/" + tag, "refs/tags/" + tag, "refs/tags/" + tag + "^{}"};
    command.environment = environment_;
    command.timeout_ms = git_ask_timeout_ms;
    const auto answer = base::run_command(command);
    if (!answer || answer->exit_code != 0) return false;
    const auto now = commit_in(answer->out, tag);
    return !now.empty() && !whole->starts_with(now);
}

base::Status GitSource::unpack(const SourceRecord& source, const fs::path& tree,
                               const base::KeepAlive& keep_alive) const {
    const fs::path folder = directory_ / source.filename;
    const auto whole = bash_in(folder, std::string(templates::describe_tree), environment_);
    const bool is_gone = !whole && whole.error().os_error == ENOENT;
    if (!whole && !is_gone) return tl::unexpected(whole.error());
    // A slow file system is not a damaged clone.
    if (whole && whole->timed_out) return base::fail_errno("checking the clone", folder.native(), ETIMEDOUT);
    if (is_gone || whole->exit_code != 0 || base::sha256_hex(whole->out) != source.sha256) {
        WHEELYARD_TRY(free_space(folder, keep_alive));
        return base::fail_as(
            base::ErrorKind::missing, base::Recovery::retry,
            {"source.cache", "A clone was changed or damaged", folder.string(), "it is cloned again"});
    }
    return copy_source(folder / "tree", tree, keep_alive);
}

}  // namespace wheelyard::builder
