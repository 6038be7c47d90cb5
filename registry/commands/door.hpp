// Where a command runs an operation: at a registry anywhere (--url and --token-file), at the running server
// of a data folder, or in this process where none runs. All give the same answers, since all run the
// operation's row.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/problem.hpp"
#include "registry/access/person.hpp"
#include "registry/store/opened_store.hpp"

namespace wheelyard::registry {

// What add_target() fills: a local data folder, or a remote registry.
struct DoorTarget {
    std::filesystem::path config = {};
    std::string url = {};
    std::filesystem::path token_file = {};   // with url
    NewStore new_store = NewStore::refused;  // where neither a server nor a store is there
};

// As errors of commands are printed: a detail of a problem is a whole sentence.
[[nodiscard]] base::Error error_of(const wire::Problem& problem);

class Door {
  public:
    virtual ~Door() = default;
    // Errors: those of the configuration and the store; "lifecycle.token_file".
    [[nodiscard]] static base::Result<std::unique_ptr<Door>> open(const DoorTarget& target,
                                                                  const OpenPublisher& open_publisher,
                                                                  const base::Clock& clock);
    // The body of the answer, once pages show what it says. `arguments` by name, whether the operation has
    // them in its path, its query or its body. A refusal is an error with its code.
    [[nodiscard]] virtual base::Result<std::string> ask(std::string_view operation,
                                                        const io::Json& arguments) = 0;
    // Says whether the answers so far came from a running server.
    [[nodiscard]] virtual bool is_served() const { return true; }
    // What people are called, as far as the caller may learn it.
    [[nodiscard]] ShownNames shown_names();
};

}  // namespace wheelyard::registry
