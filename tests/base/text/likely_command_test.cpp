// The command or the option that a misspelt one probably means.
#include "lib/base/text/usage.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace wheelyard;

namespace {

struct FakeOption {
    std::vector<std::string> names;
    [[nodiscard]] const std::vector<std::string>& get_lnames() const { return names; }
};

// As much of CLI::App as is needed.
struct FakeApp {
    std::string name;
    std::vector<FakeApp> commands = {};
    std::vector<FakeOption> options = {};
    [[nodiscard]] const std::string& get_name() const { return name; }
    [[nodiscard]] std::vector<const FakeApp*> get_subcommands(
        const std::function<bool(const FakeApp*)>&) const {
        std::vector<const FakeApp*> all;
        for (const auto& command : commands)
            all.push_back(&command);
        return all;
    }
    [[nodiscard]] std::vector<const FakeOption*> get_options(
        const std::function<bool(const FakeOption*)>&) const {
        std::vector<const FakeOption*> all;
        for (const auto& option : options)
            all.push_back(&option);
        return all;
    }
};

std::string likely(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    const FakeApp app{"program",
                      {{"serve", {}, {{{"config"}}, {{"ready-file"}}, {}}},  // the last one is a positional
                       {"token", {{"create", {}, {{{"index"}}, {{"expires"}}}}, {"revoke"}}}},
                      {{{"help", "help-all"}}}};
    return base::likely_word(app, static_cast<int>(words.size()), words.data());
}

}  // namespace

TEST_CASE("a misspelt command gets a suggestion, also below another command") {
    CHECK(likely({"sevre", "-c", "x"}) == "There is no command `sevre`; did you mean `serve`?\n");
    CHECK(likely({"token", "craete"}) == "There is no command `craete`; did you mean `create`?\n");
    CHECK(likely({"publish"}) == "There is no command `publish`. The commands are serve, token\n");
}

TEST_CASE("options and right commands get none") {
    CHECK(likely({}) == "");
    CHECK(likely({"serve", "extra"}) == "");
    CHECK(likely({"--config", "sevre"}) == "");
    CHECK(likely({"token", "--help"}) == "");
    CHECK(likely({"--help"}) == "");
    CHECK(likely({"serve", "--config", "--ready-file=x"}) == "");
    CHECK(likely({"serve", "--", "--confg"}) == "");
    CHECK(likely({"serve", "--nothing-like-it"}) == "");
    CHECK(likely({"serve", "--expires"}) == "");
}

TEST_CASE("a misspelt option gets the nearest one of its own command") {
    CHECK(likely({"serve", "--confg", "x"}) == "There is no option `--confg`; did you mean `--config`?\n");
    CHECK(likely({"serve", "--redy-file=x"}) ==
          "There is no option `--redy-file`; did you mean `--ready-file`?\n");
    CHECK(likely({"token", "create", "--index", "main", "--expire", "9d"}) ==
          "There is no option `--expire`; did you mean `--expires`?\n");
    CHECK(likely({"--hlep"}) == "There is no option `--hlep`; did you mean `--help`?\n");
}
