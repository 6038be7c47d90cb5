#include "lib/base/likely_command.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace wheelyard;

namespace {

// As much of CLI::App as is needed.
struct FakeApp {
    std::string name;
    std::vector<FakeApp> commands = {};
    [[nodiscard]] const std::string& get_name() const { return name; }
    [[nodiscard]] std::vector<const FakeApp*> get_subcommands(
        const std::function<bool(const FakeApp*)>&) const {
        std::vector<const FakeApp*> all;
        for (const auto& command : commands)
            all.push_back(&command);
        return all;
    }
};

std::string likely(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    const FakeApp app{"program", {{"serve"}, {"token", {{"create"}, {"revoke"}}}}};
    return base::likely_command(app, static_cast<int>(words.size()), words.data());
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
}
