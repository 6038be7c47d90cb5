// The whole program except for process setup (main.cpp).
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"
#include "indexer/avail_wheels/farm.hpp"
#include "indexer/avail_wheels/proof/proof.hpp"
#include "indexer/avail_wheels/source/wheel_reading.hpp"
#include "lib/base/clock.hpp"
#include "lib/simple/client.hpp"
#include "lib/status/index_status.hpp"

namespace wheelyard::avail_wheels {

// The program's environment: user, network, clock and node. Tests substitute their own.
struct World {
    EnvironmentMap environment;
    HostProbe probe;
    base::Clock* clock = nullptr;
    simple::GetPage get;  // called only if the network is needed
    PostDocument post = {};
    ReadWheelFile read_wheel = {};  // of a folder without a wheel list; empty: wheels are not read
    // Of `verify`; empty: this program has no cryptography.
    std::function<base::Result<Proof>(const std::filesystem::path& file, const ProofQuestion& asked,
                                      const simple::GetPage& get, base::UnixMicros now)>
        prove = {};
    std::string user;
    bool out_is_terminal = false;
    std::size_t out_columns = 0;  // of the terminal; 0: none, so lines have no limit
    std::size_t help_columns = base::help_columns;
    bool err_is_terminal = false;
};

// Exit status: 0 even if nothing matches, 1 if the source cannot be read, 2 for a wrong command line. Sets
// `wants_pager` if the output may go through a pager.
[[nodiscard]] int run(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
                      std::ostream& err, bool& wants_pager);

// `arguments` begin with the command's word. Exit status as that of run().
[[nodiscard]] int run_login(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
                            std::ostream& err);

[[nodiscard]] int run_verify(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
                             std::ostream& err);

[[nodiscard]] Node node_of(const Options& options, const World& world);

// Why nothing is known to run on a node without a Python that answers.
[[nodiscard]] std::string python_fault(const Node& node);

// Each returns the exit status; `options` as the command line gives them, the second argument is their mode.
int answer_list(Options options, const ListMode& mode, const World& world, std::ostream& out,
                std::ostream& err);
int answer_lock(Options options, const LockMode& mode, const World& world, std::ostream& out,
                std::ostream& err);
int answer_status(const Options& options, const World& world, std::ostream& out, std::ostream& err);
int answer_requests(const Options& options, const RequestMode& mode, const World& world, std::ostream& out,
                    std::ostream& err);
int answer_completion(const Options& options, const CompletionMode& mode, const World& world,
                      std::ostream& out);

// Asks the farm for one requirement, without a look at what is there.
int ask_farm(const Options& options, const World& world, const std::string& requirement, std::ostream& out,
             std::ostream& err);

struct WebLink {
    std::string url;
    std::string node;    // as the pages name it: "bede, gh (gh200)"; empty: none or several suit
    std::string python;  // "3.12"; empty: unknown
    std::vector<std::string> node_types = {};  // those that suit, where they are several
};

// Pure. `node`: this one, or that of --on. A node type of a site suits by its name in the site file,
// otherwise by machine and GPUs. Errors "web.no_index".
[[nodiscard]] base::Result<WebLink> make_web_link(const Options& options, const Node& node,
                                                  const std::vector<status::SiteReport>& sites);

// Prints it; without a status of the index it says nothing of the node type. Returns the exit code.
int answer_web(const Options& options, const Node& node, const simple::GetPage& get, std::ostream& out,
               std::ostream& err);

}  // namespace wheelyard::avail_wheels
