// The lower bound for a whole tree: one folder and two hard links per wheel. Reads lines
// "SHA256 FILENAME METADATA-SHA256" from standard input and creates FILES/ab/<sha256>/<filename> and
// <filename>.metadata as links to the blobs in BLOBS:
//
//     index_bound BLOBS FILES < LIST
//
// bench/index_render.py runs it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <string>

namespace {

constexpr mode_t folder_mode = 0777;

bool make_folder(int files, const std::string& folder) {
    if (::mkdirat(files, folder.c_str(), folder_mode) == 0) return true;
    return errno == ENOENT && ::mkdirat(files, folder.substr(0, 2).c_str(), folder_mode) == 0 &&
           ::mkdirat(files, folder.c_str(), folder_mode) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::ios::sync_with_stdio(false);
    const int blobs = argc == 3 ? ::open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
    const int files = argc == 3 ? ::open(argv[2], O_RDONLY | O_DIRECTORY) : -1;
    std::string sha256;
    std::string filename;
    std::string metadata;
    bool is_well = blobs >= 0 && files >= 0;
    while (is_well && std::cin >> sha256 >> filename >> metadata) {
        const std::string folder = sha256.substr(0, 2) + "/" + sha256;
        const std::string file = folder + "/" + filename;
        const std::string from = metadata.substr(0, 2) + "/" + metadata;
        is_well = make_folder(files, folder) &&
                  ::linkat(blobs, folder.c_str(), files, file.c_str(), 0) == 0 &&
                  ::linkat(blobs, from.c_str(), files, (file + ".metadata").c_str(), 0) == 0;
    }
    if (!is_well) std::perror("index_bound");
    return is_well ? 0 : 1;
}
