#include "tests/support/postgres_server.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/support/becomes_true.hpp"

namespace wheelyard::test {
namespace {

const std::string script = std::string(WHEELYARD_TEST_DATA) + "/support/postgres_server.sh";

class Server {
  public:
    Server() {
        char name[] =
            "/tmp/wheelyard-postgres-XXXXXX";  // short: it has a Unix socket, and `nobody` enters it
        if (::mkdtemp(name) == nullptr) return;
        folder_ = name;
        static_cast<void>(::chmod(name, 0755));
        const int status = std::system(("'" + script + "' init " + folder_.string() + "/s").c_str());
        if (status == 0) is_there_ = start();
        is_installed_ = !WIFEXITED(status) || WEXITSTATUS(status) != 77;
        if (!is_installed_)
            std::fprintf(
                stderr, "skipped in PostgreSQL: its server is not installed (scripts/install-deps --unit)\n");
        else if (!is_there_)
            std::fprintf(stderr, "PostgreSQL does not start: see %s/s.log\n", folder_.c_str());
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        if (child_ > 0) {
            ::kill(child_, SIGQUIT);  // at once
            ::waitpid(child_, nullptr, 0);
        }
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    [[nodiscard]] bool is_installed() const { return is_installed_; }
    [[nodiscard]] bool is_there() const { return is_there_; }
    [[nodiscard]] std::filesystem::path folder() const { return folder_ / "s"; }
    [[nodiscard]] pid_t child() const { return child_; }

  private:
    bool start() {
        child_ = ::fork();
        if (child_ == 0) {
            const std::string folder = this->folder().string();
            ::execl(script.c_str(), script.c_str(), "run", folder.c_str(), "-c", "listen_addresses=", "-c",
                    "fsync=off", "-c", "full_page_writes=off", nullptr);
            ::_exit(127);
        }
        return test_support::becomes_true([this] { return answers(); });
    }
    // Its line in the log comes when it takes connections.
    [[nodiscard]] bool answers() const {
        std::ifstream log(folder().string() + ".log");
        const std::string text((std::istreambuf_iterator<char>(log)), {});
        return text.find("ready to accept connections") != std::string::npos;
    }
    std::filesystem::path folder_;
    pid_t child_ = -1;
    bool is_installed_ = true;
    bool is_there_ = false;
};

Server& server() {
    static Server started;
    return started;
}

}  // namespace

bool has_postgres() {
    if (!server().is_installed()) return false;
    REQUIRE_MESSAGE(server().is_there(), "PostgreSQL does not start");
    return true;
}

std::filesystem::path postgres_folder() {
    return server().folder();
}

std::string postgres_url() {
    static int schemas = 0;
    const std::string schema = "test_" + std::to_string(++schemas);
    const std::string host = "host=" + postgres_folder().string() + " user=wheelyard dbname=postgres";
    const std::string made = "psql -qX '" + host + "' -c 'CREATE SCHEMA " + schema + "' && exit 0; exit 1";
    REQUIRE(std::system(made.c_str()) == 0);
    return host + " options='-c search_path=" + schema + "'";
}

void signal_postgres(int signal) {
    const std::string name = std::to_string(server().child());
    std::ifstream file("/proc/" + name + "/task/" + name + "/children");
    ::kill(server().child(), signal);
    for (pid_t child = 0; file >> child;)
        ::kill(child, signal);
}

}  // namespace wheelyard::test
