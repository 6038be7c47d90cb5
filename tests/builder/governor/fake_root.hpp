// A root folder with the files of /proc and /sys that a test puts there.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::governor {

class FakeRoot {
  public:
    FakeRoot() : folder_(base::TempDir::make("limits").value()) {
        put("/proc/meminfo", "MemTotal:       263000000 kB\nMemFree:  1 kB\nMemAvailable:   250000000 kB\n");
        put("/proc/vmstat", "pgmajfault 12\noom_kill 3\n");
    }
    void put(const std::string& path, const std::string& text) const {
        const base::fs::path file = folder_.path().string() + path;
        REQUIRE(base::make_directories(file.parent_path()));
        REQUIRE(base::replace_file(file, text));
    }
    [[nodiscard]] std::string path() const { return folder_.path(); }

  private:
    base::TempDir folder_;
};

}  // namespace wheelyard::governor
