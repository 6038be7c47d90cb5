#include "lib/base/text/assigned_text.hpp"

#include <doctest/doctest.h>

using wheelyard::base::assigned_text;

TEST_CASE("a name's text is that of the line that begins with it") {
    // torch/version.py of torch 2.15.0.
    constexpr const char* version =
        "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n"
        "__version__ = '2.15.0+cu132'\ndebug = False\ncuda: Optional[str] = \"13.2\"\nhip: Optional[str] = "
        "None\n";
    CHECK(assigned_text(version, "__version__") == "2.15.0+cu132");
    CHECK(assigned_text(version, "cuda") == "13.2");
    for (const char* name : {"hip", "debug", "git_version", "version"})
        CHECK(assigned_text(version, name).empty());
    CHECK(assigned_text("cudas = 'x'\n cuda = 'y'\ncuda='z'\n", "cuda") == "z");
    CHECK(assigned_text("cuda = 'open\n", "cuda").empty());
}
