// The pager is a process of its own: what it gets, and what its caller learns.
#include "indexer/avail_wheels/table/table.hpp"

#include <doctest/doctest.h>

#include <csignal>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

// A signal that is ignored until the end of a scope.
class Ignored {
  public:
    explicit Ignored(int signal) : signal_(signal), before_(std::signal(signal, SIG_IGN)) {}
    ~Ignored() { std::signal(signal_, before_); }
    Ignored(const Ignored&) = delete;
    Ignored& operator=(const Ignored&) = delete;

  private:
    int signal_;
    void (*before_)(int);
};

bool show(const std::string& text, const std::string& pager) {
    const Ignored as_in_main(SIGPIPE);
    return show_in_pager(text, {{"PAGER", pager}});
}

}  // namespace

TEST_CASE("the pager gets the whole text") {
    const auto folder = *base::TempDir::make("wheelyard-pager-test");
    const std::string shown = folder.path() / "shown";
    const std::string text(300'000, 'x');  // more than a pipe holds
    CHECK(show(text, "cat > '" + shown + "'"));
    CHECK(base::read_file(shown, 1 << 20).value_or("") == text);
}

TEST_CASE("a pager that the user quits has shown the text, and one that does not start has shown nothing") {
    CHECK(show(std::string(300'000, 'x'), "head -c 1 > /dev/null"));
    CHECK(show("text", "cat > /dev/null; exit 1"));
    for (const char* none : {"", "cat", "/nowhere/pager 2> /dev/null"})
        CHECK_FALSE_MESSAGE(show("text", none), none);
}

TEST_CASE("a pipeline as pager ends without an error when its end leaves early") {
    const auto folder = *base::TempDir::make("wheelyard-pager-test");
    const std::string errors = folder.path() / "errors";
    CHECK(show("text", "yes 2> '" + errors + "' | head -n 1 > /dev/null"));
    CHECK(base::read_file(errors, 1 << 20).value_or("none") == "");
}

TEST_CASE("the pager is left also by a program that was started with SIGCHLD ignored") {
    const Ignored no_status(SIGCHLD);
    CHECK(show("text", "cat > /dev/null"));
}
