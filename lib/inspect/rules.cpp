// The rule table: every finding that a wheel can get, one row each, in the order of reports and of
// docs/rules.md (which is generated from it). "policy" as source: docs/formats/wheel-zip.md.
#include "lib/inspect/verdict.hpp"

namespace wheelyard::inspect {
namespace {

using enum Severity;

constexpr std::string_view wheel_format = "binary distribution format";
constexpr std::string_view core_metadata = "core metadata";
constexpr std::string_view tag_policy = "PEP 425 and the wheel's bytes";
constexpr std::string_view zip_policy = "wheel-zip policy";
constexpr std::string_view rebuild =
    "Rebuild the wheel with a current build backend; do not edit wheels by hand.";
constexpr std::string_view repack = "Unpack it and pack it again with `wheel unpack` and `wheel pack`.";
constexpr std::string_view resend =
    "The file is damaged or cut off: build or fetch it again and compare its hash.";

}  // namespace

const std::vector<Rule>& rules() {
    static const std::vector<Rule> table = {
        // The file name.
        {"filename.invalid", reject, "The file name is no wheel file name.",
         "Name it {name}-{version}(-{build})-{python}-{abi}-{platform}.whl.", wheel_format},
        {"filename.not_normalized", reject, "Name or version in the file name are not in normal form.",
         "Rename the project part to lower case with `_`, the version to its normal form; a current backend "
         "does both.",
         wheel_format},

        // The frame.
        {"zip.no_end_record", reject, "The file is no ZIP archive, or its end is missing.", resend,
         zip_policy},
        {"zip.truncated", reject, "A part that the archive refers to is not there.", resend, zip_policy},
        {"zip.directory_invalid", reject, "The central directory is not what the end record says.", resend,
         zip_policy},
        {"zip.zip64_invalid", reject, "ZIP64 values are missing, needless or differ from their twins.",
         repack, zip_policy},
        {"zip.several_disks", reject, "The archive claims to span several disks.", repack, zip_policy},
        {"zip.too_many_members", reject, "The archive has more members than any real wheel.",
         "Leave generated or vendored trees out of the wheel.", zip_policy},
        {"zip.prefix", reject, "There are bytes in front of the first member.", repack, zip_policy},
        {"zip.gap", reject, "There are bytes between members that no member owns.", repack, zip_policy},
        {"zip.overlap", reject, "Two members use the same bytes.", repack, zip_policy},
        {"zip.trailing_bytes", reject, "There are bytes after the end record.", repack, zip_policy},
        {"zip.comment", reject, "The archive or a member carries a comment.", repack, zip_policy},
        {"zip.local_differs", reject, "A local header and its central entry say different things.", repack,
         zip_policy},
        {"zip.encrypted", reject, "A member is encrypted.", repack, zip_policy},
        {"zip.method", reject, "A member is packed by a method that installers need not know.", repack,
         zip_policy},
        {"zip.data_descriptor", reject, "A member's sizes stand after its data.",
         "The wheel was written to a pipe: write it to a file.", zip_policy},
        {"zip.flags", reject, "A member has a flag bit that a wheel has no use for.", repack, zip_policy},
        {"zip.extra_invalid", reject, "A member's extra field is malformed or carries a second name.", repack,
         zip_policy},
        {"zip.name_encoding", reject, "A member's name is not UTF-8, or not marked as such.", repack,
         zip_policy},
        {"zip.name_control", reject, "A member's name contains control characters.", "Rename the file.",
         zip_policy},
        {"zip.name_path", reject, "A member's name is no plain relative path.", repack, zip_policy},
        {"zip.name_too_long", reject, "A member's name is longer than file systems allow.",
         "Rename the file.", zip_policy},
        {"zip.name_duplicate", reject, "Two members have the same name.", repack, zip_policy},
        {"zip.name_conflict", reject, "A member lies in a folder that is also a file.", "Rename one of them.",
         zip_policy},
        {"zip.name_case", warn, "Two members' names differ in case only; some file systems keep one of them.",
         "Rename one of them.", zip_policy},
        {"zip.symlink", reject, "A member is a symbolic link.",
         "Ship the file itself: installers write the link's text.", zip_policy},
        {"zip.special_file", reject, "A member is neither a regular file nor a folder.", repack, zip_policy},
        {"zip.directory_data", reject, "A folder carries data.", repack, zip_policy},
        {"zip.bomb", reject, "The archive unpacks to absurdly more than its size.",
         "Generate large repetitive data at run time instead of shipping it.", zip_policy},
        {"zip.member_too_large", reject, "A member of .dist-info is larger than anything of its kind.",
         "Shorten the description or the list of files.", zip_policy},
        {"zip.deflate_invalid", reject, "A member's data cannot be unpacked.", resend, "RFC 1951"},
        {"zip.size_mismatch", reject, "A member unpacks to another size than declared.", resend, zip_policy},
        {"zip.crc_mismatch", reject, "A member's CRC-32 differs from the declared one.", resend, zip_policy},

        // .dist-info.
        {"dist_info.missing", reject, "There is no .dist-info folder.", rebuild, wheel_format},
        {"dist_info.several", reject, "There is more than one .dist-info folder.",
         "Vendored packages must leave theirs out, or installers cannot tell which is the wheel's.",
         wheel_format},
        {"dist_info.name_mismatch", reject,
         "The .dist-info folder is named after another project or version.",
         "Rename the file back, or rebuild: a wheel is not renamed by renaming its file.", wheel_format},
        {"dist_info.file_missing", reject, "METADATA, WHEEL or RECORD is missing.", rebuild, wheel_format},
        {"metadata.invalid", reject, "METADATA breaks the core metadata specification.",
         "Correct the field in the project's own metadata and rebuild.", core_metadata},
        {"metadata.name_mismatch", reject, "METADATA names another project than the file name.",
         "Rename the file back, or rebuild under the new name.", wheel_format},
        {"metadata.version_mismatch", reject, "METADATA has another version than the file name.",
         "Rebuild: changing the file name (to add a local version, say) does not change what is installed.",
         wheel_format},
        {"metadata.license_file_missing", reject, "A licence file that METADATA lists is not in the wheel.",
         "Keep License-File and .dist-info/licenses/ in step; a current backend does.", "PEP 639"},
        {"wheel_info.invalid", reject, "The WHEEL file cannot be read.", rebuild, wheel_format},
        {"wheel_info.tags_differ", reject, "The tags in WHEEL are not the file name's.",
         "Retag with `wheel tags` (or auditwheel), which changes both, instead of renaming the file.",
         wheel_format},
        {"wheel_info.build_differs", reject, "The build tag in WHEEL is not the file name's.",
         "Retag with `wheel tags --build`, which changes both.", wheel_format},
        {"entry_points.invalid", reject, "entry_points.txt has a line that installers cannot use.",
         "Write name = module:attribute.", "entry points specification"},
        {"entry_points.script_name", reject, "A script's name is no plain file name.",
         "A script is installed as a file of that name beside python: no slashes.",
         "entry points specification"},
        {"data_folder.name_mismatch", reject, "A .data folder is named after another project or version.",
         rebuild, wheel_format},
        {"data_folder.scheme", reject, "A .data folder has a part that installers do not know.",
         "Use purelib, platlib, headers, scripts or data.", wheel_format},

        // RECORD.
        {"record.invalid", reject, "RECORD cannot be read.", rebuild, wheel_format},
        {"record.hash_mismatch", reject, "A member's bytes are not those that RECORD vouches for.",
         "The file was changed after RECORD was written: repack with `wheel pack`, and find out who changed "
         "it.",
         wheel_format},
        {"record.size_mismatch", reject, "A member's size is not RECORD's.", repack, wheel_format},
        {"record.unlisted", reject,
         "A member is not listed in RECORD: it would stay behind on uninstall, unchecked.", repack,
         wheel_format},
        {"record.member_missing", reject, "RECORD lists a file that is not in the wheel.", repack,
         wheel_format},
        {"record.no_hash", reject, "A row of RECORD has no hash.", repack, wheel_format},
        {"record.weak_hash", reject, "A row of RECORD has a hash that is too weak.", repack, wheel_format},
        {"record.duplicate", reject, "RECORD lists a file twice.", repack, wheel_format},
        {"record.self_hash", warn, "RECORD has a hash for itself or its signature, which cannot be right.",
         repack, wheel_format},

        // Tags against the ELF files inside.
        {"tag.any_with_elf", reject, "The platform tag is `any`, but there is compiled code inside.",
         "Tag it for the platform it was built on, linux_x86_64 say.", tag_policy},
        {"tag.platform_without_elf", warn,
         "The platform tag names a platform, but there is no compiled code inside.",
         "If it runs everywhere, tag it `any`.", tag_policy},
        {"tag.purelib_with_elf", warn, "Root-Is-Purelib is true, but there is compiled code inside.",
         "Set Root-Is-Purelib to false: some systems keep the two apart.", wheel_format},
        {"elf.malformed", warn, "A file begins as an ELF file but contradicts itself.",
         "If it is no test data, build it again.", "System V ABI"},
        {"elf.machine_mismatch", reject, "An ELF file is for another machine than the platform tag.",
         "It was built with the wrong compiler, or tagged wrongly: look at the file named.", tag_policy},
        {"elf.glibc_above_policy", reject, "An ELF file needs a newer glibc than the manylinux tag allows.",
         "Retag with `auditwheel repair`, or build on an older system; linux_* tags promise no glibc.",
         "PEP 600"},
        {"elf.libc_mismatch", reject, "An ELF file is linked to the other C library than the tag says.",
         "musllinux is for musl, manylinux for glibc: build on a system of the right kind.", "PEP 656"},
        {"elf.python_mismatch", reject, "An extension module is named for another Python than the tags.",
         "It is left over from another build, or was retagged: clean the build folder and rebuild.",
         tag_policy},
        {"elf.search_path", warn, "An ELF file looks for libraries in a folder outside of the wheel.",
         "Use $ORIGIN, or name the site's module tree in the index's policy.", tag_policy},
        {"gpu.malformed", warn, "Device code could not be walked to its end; the list of GPUs may be short.",
         "Tell us: this compiler's layout may be new.", tag_policy},
        {"gpu.compressed", note,
         "Device code is compressed in a way that cannot be read here; its GPUs are not listed.",
         "Check with a program that was built with zstd, or build with --no-offload-compress.", tag_policy},
        {"gpu.promised_not_there", reject,
         "The local version names a GPU platform that nothing inside has code for.",
         "The build fell back to CPU: look for the toolkit's detection in its log, or drop the local "
         "version.",
         tag_policy},
    };
    return table;
}

}  // namespace wheelyard::inspect
