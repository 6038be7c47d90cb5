// pip's precedence: which files it reads and which value wins.
#include "lib/simple/pip_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/simple/limits.hpp"

namespace wheelyard::simple {

namespace {

namespace fs = std::filesystem;

// Other spellings of options on pip's command line, also valid in its configuration.
struct Alias {
    std::string_view spelling;
    std::string_view option;
};
constexpr Alias aliases[] = {{"default-timeout", "timeout"}, {"pypi-url", "index-url"}};

std::string canonical_option(std::string_view name) {
    std::string option = base::replace_all(base::ascii_lower(name), "_", "-");
    if (option.starts_with("--")) option.erase(0, 2);
    for (const auto& alias : aliases) {
        if (option == alias.spelling) option = alias.option;
    }
    return option;
}

std::string get(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
}

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> found;
    std::string word;
    for (const char c : text + " ") {
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            word += c;
        } else if (!word.empty()) {
            found.push_back(std::exchange(word, {}));
        }
    }
    return found;
}

bool truth(const std::string& text) {  // distutils' strtobool
    static constexpr std::array yes = {"y", "yes", "t", "true", "on", "1"};
    const std::string lower = base::ascii_lower(text);
    return std::any_of(yes.begin(), yes.end(), [&](const char* word) { return lower == word; });
}

}  // namespace

std::vector<PipFile> pip_files(const Environment& environment, const fs::path& prefix,
                               bool config_file_exists) {
    const std::string named = get(environment, "PIP_CONFIG_FILE");
    if (named == "/dev/null") return {};
    std::vector<PipFile> files;
    std::string system = get(environment, "XDG_CONFIG_DIRS");
    if (system.empty()) system = "/etc/xdg";
    for (const auto folder : base::split(system, ':')) {
        if (!folder.empty()) files.push_back({"global", fs::path(folder) / "pip" / "pip.conf"});
    }
    files.push_back({"global", "/etc/pip.conf"});
    const std::string home = get(environment, "HOME");
    if (!(config_file_exists && !named.empty()) && !home.empty()) {
        files.push_back({"user", fs::path(home) / ".pip" / "pip.conf"});  // the legacy place
        const std::string config = get(environment, "XDG_CONFIG_HOME");
        files.push_back(
            {"user", (config.empty() ? fs::path(home) / ".config" : fs::path(config)) / "pip" / "pip.conf"});
    }
    if (!prefix.empty()) files.push_back({"site", prefix / "pip.conf"});
    if (!named.empty()) files.push_back({"env", named});
    return files;
}

PipConfig resolve_pip_config(const Environment& environment,
                             const std::vector<std::pair<PipFile, Ini>>& files) {
    PipConfig config;
    // [global] of all files, then [download] of all files, then the environment; later values win. Empty
    // values count as absent (pip: "Ignoring configuration key … as its value is empty").
    for (const std::string section : {"global", "download"}) {
        std::map<std::string, PipValue> merged;
        for (const auto& [file, ini] : files) {
            const auto found = ini.find(section);
            if (found == ini.end()) continue;
            for (const auto& [name, value] : found->second) {
                merged[canonical_option(name)] = {value, file.path.string() + " [" + section + "]"};
            }
        }
        for (auto& [name, value] : merged) {
            if (!value.value.empty()) config.values[name] = std::move(value);
        }
    }
    for (const auto& [name, value] : environment) {
        if (!name.starts_with("PIP_") || value.empty()) continue;
        const std::string option = canonical_option(name.substr(4));
        if (option != "version" && option != "help") config.values[option] = {value, name};
    }
    return config;
}

std::string render_pip_conf(const PipConfig& config, const Environment& environment) {
    // The options that decide where pip finds packages. Others (target, user …) could break a venv.
    static constexpr std::array options = {"cache-dir",       "cert",       "client-cert", "constraint",
                                           "extra-index-url", "find-links", "index-url",   "keyring-provider",
                                           "no-binary",       "no-index",   "only-binary", "pre",
                                           "prefer-binary",   "proxy",      "retries",     "timeout",
                                           "trusted-host",    "use-feature"};
    PipConfig rendered = config;
    for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"}) {
        const std::string proxy = get(environment, name);
        if (config.value("proxy").empty() && holds_credentials(proxy))
            rendered.values["proxy"] = {proxy, name};
    }
    std::string text = "[global]\n";
    for (const char* option : options) {
        const std::string value = rendered.value(option);
        if (!value.empty()) {
            text += option;
            text += " = " + base::replace_all(base::replace_all(value, "\r", " "), "\n", "\n    ") + "\n";
        }
    }
    return text;
}

bool holds_credentials(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
    return url.substr(0, url.find('/')).find('@') != std::string_view::npos;
}

base::Result<PipConfig> read_pip_config(const Environment& environment, const fs::path& prefix) {
    std::error_code ignored;
    const bool named_exists = fs::exists(get(environment, "PIP_CONFIG_FILE"), ignored);
    std::vector<std::pair<PipFile, Ini>> files;
    for (auto& file : pip_files(environment, prefix, named_exists)) {
        if (!fs::is_regular_file(file.path, ignored)) continue;
        WHEELYARD_ASSIGN(const auto text, base::read_file(file.path, max_pip_config_bytes));
        WHEELYARD_ASSIGN(auto ini, parse_ini(text, file.path.string()));
        files.emplace_back(std::move(file), std::move(ini));
    }
    return resolve_pip_config(environment, files);
}

std::string PipConfig::value(std::string_view option) const {
    const auto found = values.find(std::string(option));
    return found == values.end() ? "" : found->second.value;
}
std::string PipConfig::origin(std::string_view option) const {
    const auto found = values.find(std::string(option));
    return found == values.end() ? "" : found->second.origin;
}
std::string PipConfig::index_url() const {
    return no_index() ? "" : value("index-url");
}
std::vector<std::string> PipConfig::extra_index_urls() const {
    return no_index() ? std::vector<std::string>{} : words(value("extra-index-url"));
}
std::vector<std::string> PipConfig::find_links() const {
    return words(value("find-links"));
}
std::vector<std::string> PipConfig::trusted_hosts() const {
    return words(value("trusted-host"));
}
bool PipConfig::no_index() const {
    return truth(value("no-index"));
}

io::HttpSettings PipConfig::http_settings() const {
    io::HttpSettings settings;
    settings.ca_bundle = value("cert");
    settings.proxy = value("proxy");
    const std::string timeout = value("timeout");
    double seconds = 0;
    const auto [end, error] = std::from_chars(timeout.data(), timeout.data() + timeout.size(), seconds);
    if (error == std::errc{} && seconds > 0 && seconds < 86'400) {
        settings.connect_timeout_ms = static_cast<std::int64_t>(seconds * 1000);
        settings.stall_timeout_ms = std::max(settings.stall_timeout_ms, settings.connect_timeout_ms);
    }
    return settings;
}

std::string parse_default_index(std::string_view help) {
    // "-i, --index-url <url>  Base URL of the Python Package Index (default https://…/simple)."; the text may
    // be wrapped anywhere.
    const auto option = help.find("--index-url <url>");
    if (option == std::string_view::npos) return "";
    std::string_view rest = help.substr(option);
    const auto marker = rest.find("(default");
    if (marker == std::string_view::npos) return "";
    const auto end = rest.find(')', marker);
    if (end == std::string_view::npos) return "";
    const auto found = words(std::string(rest.substr(marker + 8, end - marker - 8)));
    if (found.size() != 1 || (!found[0].starts_with("https://") && !found[0].starts_with("http://")))
        return "";
    return found[0];
}

namespace {

using base::trim;

std::size_t indentation(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\f\v");
    return first == std::string_view::npos ? line.size() : first;
}

// The parser's state: the section and option that the next continuation line belongs to.
class IniReader {
  public:
    explicit IniReader(std::string_view place) : place_(place) {}

    base::Status line(std::string_view raw) {
        ++number_;
        const std::string_view text = trim(raw);
        if (text.empty()) {
            if (option_ != nullptr) option_->push_back("");  // an empty line may be part of a value
            return {};
        }
        if (text.front() == '#' || text.front() == ';') return {};
        const std::size_t indent = indentation(raw);
        if (option_ != nullptr && indent > option_indent_) {
            option_->emplace_back(text);
            return {};
        }
        option_ = nullptr;
        if (text.front() == '[') return section(text);
        return option(text, indent);
    }

    Ini finish() {
        Ini ini;
        for (auto& [name, options] : sections_) {
            if (name == "DEFAULT") continue;
            auto& section = ini[name];
            for (const auto* from : {&sections_["DEFAULT"], &options}) {
                for (const auto& [key, lines] : *from)
                    section[key] = value_of(lines);
            }
        }
        return ini;
    }

  private:
    using Options = std::map<std::string, std::vector<std::string>>;

    static std::string value_of(std::vector<std::string> lines) {
        while (!lines.empty() && lines.back().empty())
            lines.pop_back();
        return base::join(lines, "\n");
    }

    tl::unexpected<base::Error> wrong(std::string sentence, std::string_view text) const {
        return base::fail("ini.syntax",
                          std::string(place_) + ":" + std::to_string(number_) + ": " + std::move(sentence),
                          std::string(text.substr(0, 200)));
    }

    base::Status section(std::string_view text) {
        const auto end = text.rfind(']');
        if (end == std::string_view::npos || end == 1) return wrong("expected [section]", text);
        const std::string name(text.substr(1, end - 1));
        if (name != "DEFAULT" && !seen_.insert(name).second) return wrong("duplicate section", text);
        section_ = &sections_[name];
        return {};
    }

    base::Status option(std::string_view text, std::size_t indent) {
        if (section_ == nullptr) return wrong("expected a [section] before the first option", text);
        const auto separator = text.find_first_of("=:");
        if (separator == std::string_view::npos || separator == 0)
            return wrong("expected `option = value`", text);
        const std::string key = base::ascii_lower(trim(text.substr(0, separator)));
        if (section_->contains(key)) return wrong("duplicate option", text);
        option_ = &(*section_)[key];
        option_->emplace_back(trim(text.substr(separator + 1)));
        option_indent_ = indent;
        return {};
    }

    std::string_view place_;
    std::size_t number_ = 0;
    std::map<std::string, Options> sections_;
    std::set<std::string> seen_;
    Options* section_ = nullptr;
    std::vector<std::string>* option_ = nullptr;
    std::size_t option_indent_ = 0;
};

}  // namespace

base::Result<Ini> parse_ini(std::string_view text, std::string_view place) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    IniReader reader(place);
    for (const auto line : base::split_lines(text))
        WHEELYARD_TRY(reader.line(line));
    return reader.finish();
}

}  // namespace wheelyard::simple
