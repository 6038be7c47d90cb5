// As which user a process reaches files. Root's commands work in folders of other users, whose links lead
// wherever those users like. There root has the rights of the folder's owner, and no others.
//
//     become_owner_of(store)      from here on: files as the store's owner
//     ActingAs(FileUser::caller)  while it lives: files as who runs the command, for what the command line names
//
// Both change the user of the file system alone (setfsuid(2)), of this thread and of threads that it starts.
// So the process still is root's: for the audit log, for a server that asks a socket who its peer is, and for
// programs that it starts.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::base {

// "alice"; the number where the system has no name for it.
[[nodiscard]] std::string user_name(uid_t user);

struct Owner {
    uid_t user = 0;
    gid_t group = 0;
};

// Where root runs this process: the other user who owns `folder`, or the nearest folder above that is there,
// or a link on the way. nullopt: root alone decides what is there, or another user runs this process.
[[nodiscard]] std::optional<Owner> other_owner_of(const std::filesystem::path& folder);

// Takes the rights and groups of other_owner_of(folder): a link leads nowhere that the user could not go, and
// what is created belongs to the user. Nothing changes where the kernel refuses it, as in some containers.
void become_owner_of(const std::filesystem::path& folder);

// Is that user from here on, for good and in all that the kernel decides, not for files alone: for a command
// that asks what a program of that user could do. Error "process.user": the kernel refuses it.
[[nodiscard]] Status stay_owner_of(const std::filesystem::path& folder);

enum class FileUser { caller, owner };  // who runs the process; whom it became

// Changes nothing without become_owner_of() of another user's folder.
class ActingAs {
  public:
    explicit ActingAs(FileUser user);
    ~ActingAs();
    ActingAs(const ActingAs&) = delete;
    ActingAs& operator=(const ActingAs&) = delete;

  private:
    const uid_t user_;  // before
    const gid_t group_;
};

// The result of `work`.
template <typename Work>
auto acting_as(FileUser user, const Work& work) {
    const ActingAs files(user);
    return work();
}

// What keeps this user from reading what a command line names; empty: nothing. CLI11's own validators say of
// all that the user may not read that it does not exist.
[[nodiscard]] std::string fault_of_file(const std::string& path);
[[nodiscard]] std::string fault_of_folder(const std::string& path);
[[nodiscard]] std::string fault_of_path(const std::string& path);

}  // namespace wheelyard::base
