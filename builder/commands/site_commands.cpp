// The subcommands that only need the site file: site check and user-files, cron-line, scrontab-line.
#include "builder/attempt/site_check_record.hpp"
#include "builder/commands/commands.hpp"
#include "builder/site_check/site_check.hpp"
#include "builder/site_check/site_report.hpp"
#include "builder/users/user_files.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

int print_line(const SiteOptions& options, std::string (*render)(const CronInput&)) {
    const auto site = read_site(options.site);
    if (!site) return complain(site.error(), exit_usage);
    // The shell that cron starts opens the log first; without its folder the tick would not run.
    const auto made = base::make_directories(site->state_directory);
    if (!made) return complain(made.error(), exit_failed);
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    print(
        render({program, std::filesystem::absolute(options.site, error), site->state_directory / "tick.log",
                base::current_environment(), site->queue.account, site->tick_minutes, site->login_minutes}));
    return exit_well;
}

// For the ticks. The state folder has a line of its own if it cannot be written.
void record_check(const Site& site, const std::vector<SiteLine>& lines) {
    const SiteCheckRecord record{base::SystemClock().now() / base::second_us * base::second_us,
                                 failed_requirements(lines)};
    const bool is_known = record.failed.empty() && read_site_check(site.state_directory).failed.empty();
    if (!is_known) static_cast<void>(write_site_check(site.state_directory, record));
}

}  // namespace

int run_site_user_files(const UserFilesOptions& options) {
    const auto site = read_site(options.site);
    if (!site) return complain(site.error(), exit_usage);
    if (options.to.empty())
        return complain({"site.no_folder", "No target folder", {}, "name one with --to"}, exit_usage);
    std::error_code error;
    const auto place = std::filesystem::absolute(options.to, error).lexically_normal();
    const auto files = render_user_files(*site, place);
    if (!files) return complain(files.error(), exit_usage);
    if (const auto written = write_user_files(*files, place); !written)
        return complain(written.error(), exit_failed);
    if (options.json) {
        io::Json list = io::Json::array();
        for (const auto& file : *files)
            list.push(io::Json::object({{"path", file.path}, {"about", file.about}}));
        print(io::Json::object(
                  {{"format", "wheelyard.user-files/1"}, {"place", place.string()}, {"files", list}})
                  .render_pretty());
        return exit_well;
    }
    for (const auto& file : *files)
        print((place / file.path).string() + (file.about.empty() ? "" : "  " + file.about) + "\n");
    return exit_well;
}

int run_site_check(const CheckOptions& options) {
    const auto site = read_site(options.site);
    if (!site) return complain(site.error(), exit_usage);
    const auto recipes = read_recipes(*site);
    if (!recipes) return complain(recipes.error(), exit_usage);
    const auto lines = check_site(*site, *recipes, agent_environment(*site));
    record_check(*site, lines);
    if (options.report) {
        const auto report =
            make_site_report(*site, options.site, agent_environment(*site), lines, base::SystemClock());
        if (!report) return complain(report.error(), exit_failed);
        print(options.json ? render_site_report_json(*report) : render_site_report(*report));
        return all_good(lines) ? exit_well : exit_failed;
    }
    options.json ? print(render_site_lines_json(site->name, lines)) : tell(render_site_lines(lines));
    if (!failed_requirements(lines).empty() && !options.json)
        tell("`run` and `tick` submit nothing new until `site check` finds these in order: " +
             base::join(failed_requirements(lines), "; ") + "\n");
    return all_good(lines) ? exit_well : exit_failed;
}

int run_cron_line(const SiteOptions& options) {
    return print_line(options, render_cron_line);
}

int run_scrontab_line(const SiteOptions& options) {
    return print_line(options, render_scrontab_line);
}

}  // namespace wheelyard::builder
