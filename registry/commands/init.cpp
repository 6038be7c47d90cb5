// `wheelyard-registry init`: a commented configuration for a new registry.
#include "registry/commands/commands.hpp"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "registry/config/config.hpp"
#include "registry/config/config_place.hpp"

namespace wheelyard::registry {

base::Status run_init(const std::filesystem::path& directory) {
    const std::filesystem::path file = directory / "registry.toml";
    const std::filesystem::path folder = std::filesystem::absolute(directory);
    WHEELYARD_TRY(base::make_directories(folder));
    auto fd = base::create_new(file);
    if (!fd) {
        if (fd.error().os_error != EEXIST) return base::fail(std::move(fd.error()));
        return base::fail("init.exists", "The configuration file already exists", file.string(),
                          "edit it, or name another folder");
    }
    // It has no secret, and the server of another user reads it, whatever root's umask is.
    constexpr mode_t readable = 0644;
    if (::fchmod(fd->get(), readable) != 0) return base::fail_errno("fchmod", file.string(), errno);
    WHEELYARD_TRY(base::write_all(fd->get(), initial_config(folder)));
    WHEELYARD_TRY(base::fsync_file(fd->get(), file.string()));
    WHEELYARD_TRY(base::fsync_directory(directory));
    const std::string name = file.string();
    base::print(stdout, "wrote %s\n\nnext:\n", name.c_str());
    base::print(stdout, "  1. look through it: names of indexes, where the wheels lie\n");
    base::print(stdout, "  2. wheelyard-registry token create --config %s --name me --index main\n",
                name.c_str());
    if (is_system_folder(folder))
        base::print(stdout,
                    "  3. systemctl enable --now wheelyard-registry   (or: wheelyard-registry serve)\n");
    else
        base::print(stdout, "  3. wheelyard-registry serve --config %s\n", name.c_str());
    base::print(
        stdout,
        "  4. twine upload --repository-url http://127.0.0.1:8080/main/legacy/ -u __token__ FILE.whl\n");
    base::print(stdout, "     (it asks for the token as password)\n");
    base::print(stdout, "  5. pip install --index-url http://127.0.0.1:8080/main/simple/ NAME\n");
    return {};
}

namespace {

void add_init_options(CLI::App& command, std::filesystem::path& directory) {
    directory = ".";
    command.add_option("directory", directory, "Target folder (default: .)");
}

}  // namespace

std::vector<Command> init_commands() {
    return {
        {heading::server, "init", "Write a commented configuration, registry.toml", "farm",
         setup(add_init_options, run_init)},
    };
}

}  // namespace wheelyard::registry
