#include "lib/inspect/dist_info/dist_info.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;

namespace {

// The code of the first finding, or "".
std::string first_code(std::string_view text) {
    const inspect::Policy policy;
    inspect::Findings findings(policy);
    inspect::check_entry_points("entry_points.txt", text, findings);
    const auto verdicts = findings.take();
    return verdicts.empty() ? "" : std::string(verdicts.front().code);
}

}  // namespace

TEST_CASE("valid entry points have no findings") {
    for (const std::string_view text : {
             "",
             "# a comment\n; another\n\n",
             "[console_scripts]\nsix = six:main\n",
             "[console_scripts]\r\nsix=six.cli:App.run\r\n",
             "[gui_scripts]\nsix-gui = six.gui:main\n",
             "[six.plugins]\na module = six.gui\n; b = c\n",
             "[console_scripts]\nsix3.11 = six:main [colour]\n",
             "[console_scripts]\nname-without-spaces = m\xc3\xbcnze:main\n",
             "[six.plugins]\nanything = not : a : reference\nurl = https://example.org/\n",
         }) {
        CAPTURE(text);
        CHECK(first_code(text).empty());
    }
}

TEST_CASE("invalid script lines are reported") {
    struct Row {
        std::string_view text;
        std::string_view code;
    };
    for (const Row& row : {
             Row{"six = six:main\n", "entry_points.invalid"},
             Row{"[console_scripts\nsix = six:main\n", "entry_points.invalid"},
             Row{"[]\nsix = six:main\n", "entry_points.invalid"},
             Row{"[console_scripts]\nsix\n", "entry_points.invalid"},
             Row{"[console_scripts]\nsix =\n", "entry_points.invalid"},
             Row{"[console_scripts]\nsix = six:\n", "entry_points.invalid"},
             Row{"[console_scripts]\nsix = six.cli\n", "entry_points.invalid"},
             Row{"[gui_scripts]\nsix-gui = six.gui\n", "entry_points.invalid"},
             Row{"[console_scripts]\nsix = six:main()\n", "entry_points.invalid"},
             Row{"[console_scripts]\nsix = import os; os.system('x')\n", "entry_points.invalid"},
             Row{"[console_scripts]\nsix = 6:main\n", "entry_points.invalid"},
             Row{"[plugins]\n\xff = x\n", "entry_points.invalid"},
             Row{"[plugins]\na = x\n more\n", "entry_points.invalid"},
             Row{"[plugins]\n= x\n", "entry_points.invalid"},
             Row{"[plugins]\n; a comment of INI files\n", "entry_points.invalid"},
             Row{"[console_scripts]\n../../six = six:main\n", "entry_points.script_name"},
             Row{"[gui_scripts]\nc:six = six:main\n", "entry_points.script_name"},
             Row{"[gui_scripts]\n.. = six:main\n", "entry_points.script_name"},
             Row{"[gui_scripts]\n = six:main\n", "entry_points.script_name"},
         }) {
        CAPTURE(row.text);
        CHECK(first_code(row.text) == row.code);
    }
}
