// Captures what code under test prints, or gives it an input.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "lib/base/files/fd.hpp"

namespace wheelyard::test_support {

// A standard stream of this process that is a file until the end of a scope.
class Redirected {
  public:
    Redirected(int stream, const std::filesystem::path& file)
        : stream_(stream), saved_(::fcntl(stream, F_DUPFD_CLOEXEC, 3)) {
        std::fflush(nullptr);
        const base::Fd opened(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
        REQUIRE(opened);
        REQUIRE(::dup2(opened.get(), stream) >= 0);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;
    ~Redirected() {
        std::fflush(nullptr);
        ::dup2(saved_.get(), stream_);
    }

  private:
    int stream_;
    base::Fd saved_;
};

}  // namespace wheelyard::test_support
