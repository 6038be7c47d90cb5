// The rule table: one row per finding, in the order of reports and of docs/reference/rules.md, which is generated from
// it. The source "wheel-zip policy" is docs/reference/wheel-zip.md.
#include "lib/inspect/verdict/verdict.hpp"

namespace wheelyard::inspect {
namespace {

using enum Severity;

constexpr std::string_view wheel_format = "binary distribution format";
constexpr std::string_view sdist_format = "source distribution format";
constexpr std::string_view core_metadata = "core metadata";
constexpr std::string_view tag_policy = "PEP 425 and the wheel's bytes";
constexpr std::string_view zip_policy = "wheel-zip policy";
constexpr std::string_view rebuild =
    "Rebuild the wheel with a current build backend; do not edit wheels by hand.";
constexpr std::string_view repack = "Repack it with `wheel unpack` and `wheel pack`.";
constexpr std::string_view sdist_again =
    "Make it again with `python -m build --sdist`; do not pack archives by hand.";
constexpr std::string_view resend =
    "The file is damaged or truncated: build or download it again and compare its hash.";

constexpr bool strict = true;  // Rule::strict

}  // namespace

const std::vector<Rule>& rules() {
    static const std::vector<Rule> table = {
        // The file name.
        {"filename.invalid", reject, "The file name is not valid for a wheel or a source distribution.",
         "Name the file {name}-{version}(-{build})-{python}-{abi}-{platform}.whl, or "
         "{name}-{version}.tar.gz.",
         wheel_format},
        {"filename.not_normalized", warn,
         "The file name differs from its normal form in case, `.`, `-` or `_`; pip and uv install it.",
         "Rebuild with a current build backend, which writes the name in lower case with `_`.", wheel_format},
        {"filename.version_not_normalized", reject, "The version in the file name is not normalized.",
         "Rebuild with a current build backend, which writes the version in its normal form.", wheel_format},
        {"filename.variant", reject,
         "The file name has a variant label, and the index does not take variant wheels.",
         "Build the wheel without variants, or ask an administrator to set `variants = true` for this index.",
         "PEP 825"},

        // The ZIP structure.
        {"zip.no_end_record", reject, "The file is not a ZIP archive, or its end record is missing.", resend,
         zip_policy},
        {"zip.truncated", reject, "The archive refers to data that is not in the file.", resend, zip_policy},
        {"zip.directory_invalid", reject, "The central directory does not match the end record.", resend,
         zip_policy},
        {"zip.zip64_invalid", reject, "ZIP64 values are missing, redundant or contradict the 32-bit values.",
         repack, zip_policy},
        {"zip.several_disks", reject, "The archive claims to span several disks.", repack, zip_policy},
        {"zip.too_many_members", reject, "The archive has more members than the limit.",
         "Leave generated or vendored trees out of the wheel.", zip_policy},
        {"zip.prefix", reject, "There are bytes before the first member.", repack, zip_policy},
        {"zip.gap", reject, "There are bytes between members that belong to no member.", repack, zip_policy},
        {"zip.overlap", reject, "Two members share bytes of the file.", repack, zip_policy},
        {"zip.trailing_bytes", reject, "There are bytes after the end record.", repack, zip_policy},
        {"zip.comment", reject, "The archive or a member has a comment.", repack, zip_policy},
        {"zip.local_differs", reject, "A local header contradicts its central directory entry.", repack,
         zip_policy},
        {"zip.encrypted", reject, "A member is encrypted.", repack, zip_policy},
        {"zip.method", reject, "A member uses a compression method that installers need not support.", repack,
         zip_policy},
        {"zip.version_needed", reject,
         "A member needs a newer ZIP version than 6.3, which pip and uv do not read.", repack, zip_policy},
        {"zip.data_descriptor", reject,
         "The sizes after a member's data differ from the central directory's, or the member is stored.",
         "Write the wheel to a file, not to a pipe.", zip_policy},
        {"zip.flags", reject, "A member has a flag bit that wheels do not use.", repack, zip_policy},
        {"zip.extra_invalid", reject, "A member's extra field is malformed or contains a second name.",
         repack, zip_policy},
        {"zip.name_encoding", reject, "A member's name is not UTF-8, or is not marked as UTF-8.", repack,
         zip_policy},
        {"zip.name_control", reject, "A member's name contains control or format characters.",
         "Rename the file.", zip_policy},
        {"zip.name_path", reject, "A member's name is not a plain relative path.", repack, zip_policy},
        {"zip.name_too_long", reject, "A member's name is longer than file systems allow.",
         "Rename the file.", zip_policy},
        {"zip.name_duplicate", reject, "Two members have the same name.", repack, zip_policy},
        {"zip.name_conflict", reject, "A member's parent folder is also a file.", "Rename one of them.",
         zip_policy},
        {"zip.name_case", warn,
         "The names of two members differ only in case, or in how accents are spelled; some file systems "
         "keep only one of them.",
         "Rename one of them.", zip_policy},
        {"zip.symlink", reject, "A member is a symbolic link.",
         "Include the file itself: installers write the link's target as text.", zip_policy},
        {"zip.special_file", reject, "A member is neither a regular file nor a folder.", repack, zip_policy},
        {"zip.directory_data", reject, "A folder entry contains data.", repack, zip_policy},
        {"zip.bomb", reject, "The archive unpacks to far more than its size (decompression bomb).",
         "Generate large repetitive data at run time instead of shipping it.", zip_policy},
        {"zip.member_too_large", reject, "A .dist-info file is larger than the limit for files of its kind.",
         "Shorten the description or the list of files.", zip_policy},
        {"zip.deflate_invalid", reject, "A member's data cannot be unpacked.", resend, "RFC 1951"},
        {"zip.size_mismatch", reject, "A member's unpacked size differs from the declared size.", resend,
         zip_policy},
        {"zip.crc_mismatch", reject, "A member's CRC-32 differs from the declared one.", resend, zip_policy},

        // Source distributions.
        {"sdist.archive_invalid", reject, "The file is not a complete tar.gz archive.", resend, sdist_format},
        {"sdist.too_many_members", reject, "The archive has more members than the limit.",
         "Leave generated or vendored trees out of the source distribution.", sdist_format},
        {"sdist.bomb", reject, "The archive unpacks to far more than its size (decompression bomb).",
         "Generate large repetitive data at build time instead of shipping it.", sdist_format},
        {"sdist.member_unsafe", reject,
         "A member would be written outside the folder or through a link, or is neither a file nor a folder "
         "nor a link inside it, or a hard link to no file before it, or a file with holes.",
         sdist_again, "PEP 721"},
        {"sdist.member_name", reject,
         "A member's name is not UTF-8, has control characters or an empty or `.` part, or is too long.",
         "Rename the file.", sdist_format},
        {"sdist.member_duplicate", reject, "Two members have the same name, and are not both folders.",
         sdist_again, sdist_format},
        {"sdist.folder", reject, "A member is outside the folder {name}-{version} of the file name.",
         sdist_again, "PEP 625"},
        {"sdist.pkg_info_missing", reject, "There is no PKG-INFO in the archive's folder.", sdist_again,
         sdist_format},
        {"sdist.pyproject_missing", note,
         "There is no pyproject.toml: installers build it with the newest setuptools.",
         "Add a pyproject.toml with [build-system], so that builds stay the same.", sdist_format},

        // .dist-info.
        {"dist_info.missing", reject, "There is no .dist-info folder.", rebuild, wheel_format},
        {"dist_info.several", reject, "There is more than one .dist-info folder.",
         "Remove the .dist-info folders of vendored packages: installers cannot know which one is the "
         "wheel's.",
         wheel_format},
        {"dist_info.name_mismatch", reject,
         "The .dist-info folder has another project name or version than the file name.",
         "Undo the renaming of the file, or rebuild: renaming the file does not rename the wheel.",
         wheel_format},
        {"dist_info.variant", reject,
         "The wheel has variant.json, but no variant label in its name: installers disagree on what it is.",
         "Build the wheel without variants.", "PEP 825"},
        {"dist_info.file_missing", reject, "METADATA, WHEEL or RECORD is missing.", rebuild, wheel_format},
        {"variant.invalid", reject, "variant.json is missing, or violates the format of wheel variants.",
         "Let a tool write it (variantlib, a current build backend), for exactly the label of the file name.",
         "PEP 825"},
        {"variant.promise", reject, "The variant's properties promise what the wheel's code does not keep.",
         "Build for the level and the GPUs that the label means, or change the properties to what was built.",
         "PEP 825"},
        {"variant.unproven", note,
         "The variant promises a level or GPUs, and nothing in the wheel shows whether it keeps that.",
         "Nothing, if the build's options are known to fit; the label alone decides where it is installed.",
         "PEP 825"},
        {"metadata.invalid", reject, "METADATA or PKG-INFO violates the core metadata specification.",
         "Correct the field in the project's metadata and rebuild.", core_metadata},
        {"metadata.name_mismatch", reject,
         "METADATA or PKG-INFO has another project name than the file name.",
         "Undo the renaming of the file, or rebuild under the new name.", wheel_format},
        {"metadata.version_mismatch", reject, "METADATA or PKG-INFO has another version than the file name.",
         "Rebuild with the new version: changing the file name, for example to add a local version, does not "
         "change what is installed.",
         wheel_format},
        {"metadata.license_file_missing", reject, "A licence file that METADATA lists is not in the wheel.",
         "Make License-File match the files in .dist-info/licenses/; a current build backend does so.",
         "PEP 639"},
        {"sbom.unreadable", warn,
         "A document in .dist-info/sboms/ cannot be read: what the wheel contains is not known from it.",
         "Write it with a current tool (auditwheel, maturin, cyclonedx-py), as JSON.", "PEP 770"},
        {"sbom.unknown", note,
         "A document in .dist-info/sboms/ has another format than CycloneDX or SPDX 2 in JSON.",
         "Nothing, if its readers know the format; else add one of these two.", "PEP 770"},
        {"metadata.requirement_invalid", reject,
         "A Requires-Dist is not a valid requirement; pip refuses to install the wheel.",
         "Write name[extra] >=1.0; marker. Versions such as 2011k are not valid any more.",
         "dependency specifiers"},
        {"metadata.requirement_local", reject,
         "A Requires-Dist names a file by its path, which is on the machine of the build only.",
         "Require the project by its name and version, and publish its wheel, too.", "dependency specifiers"},
        {"metadata.marker_undefined", reject,
         "A marker in Requires-Dist has a comparison that pip refuses to evaluate.",
         "Use ~= and === with versions only, as in python_version ~= \"3.8\", and == with text; "
         "extra for an extra: extras and dependency_groups are for locks; variant_label and the like only in "
         "wheels with a variant label.",
         "dependency specifiers"},
        {"metadata.marker_variant", warn,
         "A marker in Requires-Dist has a variable of variants, which installers cannot read yet: "
         "uv 0.13 refuses the version on the nodes of the label.",
         "Leave it out: the wheel of each label can list what exactly this one requires.", "PEP 825"},
        {"metadata.license_invalid", reject,
         "License-Expression is not an SPDX license expression, or names an unknown licence.",
         "Write for example MIT, or Apache-2.0 OR MIT; use LicenseRef-Name for a licence without an SPDX "
         "identifier.",
         "PEP 639"},
        {"metadata.license_not_allowed", reject,
         "License-Expression needs a licence that the index does not allow.",
         "Leave out what is under it, or ask an administrator to add it to the index's licenses.",
         "the index's policy"},
        {"metadata.license_unstated", quarantine,
         "The index allows only some licences, and METADATA has no License-Expression to judge.",
         "State License-Expression in the project's metadata, or ask an administrator to release the wheel.",
         "PEP 639"},
        {"metadata.import_invalid", reject, "Import-Name or Import-Namespace is not an importable name.",
         "Use dotted module names, each in only one of the two fields.", "PEP 794"},
        {"metadata.field_too_new", warn, "METADATA has a field that is newer than its Metadata-Version.",
         "Raise Metadata-Version, as current build backends do; otherwise readers may ignore the field.",
         core_metadata},
        {"metadata.extra_invalid", warn, "Provides-Extra is not a valid name of an extra.",
         "Use lower-case letters and digits, separated by single -.", "PEP 685"},
        {"metadata.url_invalid", warn, "A Project-URL is not a label and a URL.",
         "Write a short label, a comma and the URL.", core_metadata},
        {"metadata.content_type_invalid", warn,
         "Description-Content-Type is a type that indexes do not render.",
         "Use text/plain, text/x-rst or text/markdown.", core_metadata},
        {"wheel_info.invalid", reject, "The WHEEL file is malformed.", rebuild, wheel_format},
        {"wheel_info.tags_differ", warn,
         "The tags in WHEEL differ from those in the file name, which pip and uv go by; `pip check` fails "
         "where none of WHEEL fits.",
         "Change tags with `wheel tags` or auditwheel, which update both, instead of renaming the file.",
         wheel_format, true},
        {"wheel_info.build_differs", warn,
         "The build tag in WHEEL differs from the one in the file name, which pip and uv go by.",
         "Change the build tag with `wheel tags --build`, which updates both.", wheel_format, true},
        {"entry_points.invalid", reject, "entry_points.txt has a line that installers cannot use.",
         "Write name = module:attribute.", "entry points specification"},
        {"entry_points.script_name", reject, "The name of a script is not a plain file name.",
         "Remove slashes: the script is installed as a file of that name in Python's folder of programs.",
         "entry points specification"},
        {"data_folder.name_mismatch", reject,
         "A .data folder is not named exactly like the .dist-info folder: pip installs what is in it, uv "
         "does not.",
         rebuild, wheel_format},
        {"data_folder.scheme", reject, "A .data folder has a file or subfolder that installers refuse.",
         "Use purelib, platlib, headers, scripts or data, and no folders in scripts.", wheel_format},

        // The tree that installers make.
        {"installed.distribution", reject,
         "A member is installed as metadata of a distribution: Python lists another name, version or entry "
         "point than "
         "what was checked.",
         "Leave .dist-info, .egg-info and .egg files out of .data folders and the top of the wheel, but for "
         "the wheel's "
         "own .dist-info.",
         "recording installed projects"},
        {"installed.path_twice", reject,
         "Two members are installed at one path: one replaces the other, which was checked in its place.",
         "Leave one of them out: a .data folder must not repeat what the wheel has elsewhere.", wheel_format},
        {"installed.interpreter", reject, "A script or file is installed over the Python of the environment.",
         "Give the script another name than python.", "entry points specification; sysconfig"},

        // RECORD.
        {"record.invalid", reject, "RECORD is malformed.", rebuild, wheel_format},
        {"record.hash_mismatch", reject, "The hash of a member differs from the one in RECORD.",
         "The file was changed after RECORD was written: find out why, then repack with `wheel pack`.",
         wheel_format},
        {"record.size_mismatch", reject, "The size of a member differs from the one in RECORD.", repack,
         wheel_format},
        {"record.unlisted", reject,
         "RECORD does not list a member: installers do not verify it, and uninstalling leaves it behind.",
         repack, wheel_format},
        {"record.member_missing", reject, "RECORD lists a file that is not in the wheel.", repack,
         wheel_format},
        {"record.no_hash", reject, "A row of RECORD has no hash.", repack, wheel_format},
        {"record.weak_hash", reject, "A row of RECORD has a hash other than SHA-256, SHA-384 and SHA-512.",
         repack, wheel_format},
        {"record.duplicate", reject, "RECORD lists a file twice.", repack, wheel_format},
        {"record.self_hash", warn,
         "RECORD has a hash for itself or its signature; such a hash cannot be correct.", repack,
         wheel_format},

        // Tags compared with the ELF files.
        {"tag.any_with_elf", reject, "The platform tag is `any`, but the wheel contains compiled code.",
         "Use the tag of the platform it was built for, for example linux_x86_64.", tag_policy},
        {"tag.any_with_helpers", warn,
         "The platform tag is `any`, and the compiled code is a helper program or library for each of "
         "several platforms.",
         "Nothing, if the wheel works without it where there is none for the platform.", tag_policy, strict},
        {"tag.platform_without_elf", warn, "The wheel has a platform tag but contains no compiled code.",
         "If the wheel runs on every platform, tag it `any`.", tag_policy, strict},
        {"tag.purelib_with_elf", warn, "Root-Is-Purelib is true, but the wheel installs compiled code there.",
         "Set Root-Is-Purelib to false: some systems have separate folders for pure and compiled packages.",
         wheel_format, strict},
        {"tag.linux_only", ignore, "The platform tag is linux_*, which guarantees the machine only.",
         "Run `auditwheel repair`, which uses the oldest manylinux tag that fits; `check --facts` shows it "
         "too.",
         "PEP 600", strict},
        {"tag.not_judged", note,
         "A platform tag is for a system or machine that this program does not judge: its compiled code is "
         "not compared with it.",
         "Judge the wheel on such a system, for example with delocate or delvewheel.", tag_policy},
        {"elf.malformed", quarantine, "A file has the ELF signature but is malformed.",
         "Rebuild the file, or leave it out if it is test data.", "System V ABI", strict},
        {"elf.machine_mismatch", reject, "An ELF file is for another machine than the platform tag.",
         "The file was built with the wrong compiler, or the tag is wrong: check the named file.",
         tag_policy},
        {"elf.counts_as_data", warn,
         "An ELF file is not judged as code: nothing suggests that it is loaded on the tag's platform.",
         "If it is a program, give it permission to run; if it is a library, name it .so and build it for "
         "the tag's machine; leave out a copy of Fortran's runtime that no file of the wheel needs.",
         tag_policy},
        {"elf.system_mismatch", reject, "An ELF file is for another operating system than the platform tag.",
         "Build the file on Linux or leave it out: Linux's dynamic linkers reject it.",
         "System V ABI; glibc's dynamic linker"},
        {"elf.glibc_above_policy", reject, "An ELF file needs a newer glibc than the manylinux tag allows.",
         "Retag with `auditwheel repair`, or build on an older system. A linux_* tag guarantees no glibc "
         "version.",
         "PEP 600"},
        {"elf.runtime_above_policy", reject,
         "An ELF file needs a newer C++ runtime, libgcc, libatomic or zlib than the manylinux tag allows.",
         "Build in the manylinux image of that tag, whose compiler links newer parts statically, or retag "
         "the wheel.",
         "PEP 600 and auditwheel's policies"},
        {"elf.private_symbol", reject,
         "An ELF file imports a symbol that a library of the tag's systems does not guarantee.",
         "Link the library statically, or include it with `auditwheel repair`: the symbol is internal to the "
         "library.",
         "PEP 600 and auditwheel's policies"},
        {"elf.fpectl", reject,
         "An ELF file was built for a Python with fpectl, which has another ABI than manylinux wheels.",
         "Build it with a Python 3.7 or later, or one configured without --with-fpectl.", "PEP 513"},
        {"elf.libc_mismatch", reject, "An ELF file is linked to another C library than the tag requires.",
         "Build musllinux wheels on a musl system and manylinux wheels on a glibc system.", "PEP 656"},
        {"elf.python_mismatch", reject,
         "An extension module's file name is for another Python than the tags.",
         "The module is left over from another build, or the wheel was retagged: clean the build folder and "
         "rebuild. Tag modules named for musl as musllinux.",
         tag_policy},
        {"elf.abi3_too_new", reject,
         "An abi3 module imports a symbol that the oldest Python of the tag does not have.",
         "Raise the Python version in the tag, for example to cp312-abi3, or build with Py_LIMITED_API set "
         "to the tag's version.",
         "PEP 384"},
        {"elf.abi3_not_limited", warn, "An abi3 module imports symbols that are not part of the Stable ABI.",
         "Define Py_LIMITED_API before including Python.h: later Python versions may not have these symbols.",
         "PEP 384", strict},
        {"elf.isa_above_baseline", warn,
         "An ELF file requires newer processors than the platform tag guarantees.",
         "Build without -march=native, or publish the wheel only in the index of a site with such "
         "processors.",
         "x86-64 psABI", strict},
        {"elf.needed_unknown", quarantine,
         "An ELF file needs a library that neither the wheel nor the tag's policy provides.",
         "Include the library with `auditwheel repair`, name the project that brings it in Requires-Dist, or "
         "tag the wheel linux_*.",
         "PEP 513 and PEP 600", strict},
        {"elf.needed_external", ignore,
         "An ELF file needs a CUDA, ROCm, OpenCL, Intel, MPI or torch library, or one of a project of "
         "Requires-Dist, that the tag's policy does not provide.",
         "Name the project that provides it in Requires-Dist (nvidia-cublas-cu12, torch), or tag the wheel "
         "linux_*.",
         "PEP 600", strict},
        {"elf.needs_libpython", warn,
         "An ELF file is linked to libpython, which many Python installations do not have.",
         "Link extension modules without -lpython: the interpreter provides the symbols.", "PEP 513", strict},
        {"elf.search_path", reject,
         "An ELF file searches for libraries in a folder where other users may put some, such as /tmp, /home "
         "or a relative "
         "one.",
         "Use $ORIGIN, or add the site's module tree to the index's policy (rpath_prefixes).", tag_policy},
        {"elf.search_path_of_root", warn,
         "An ELF file searches for libraries in a folder of the machine of the build, which only root can "
         "make elsewhere.",
         "Use $ORIGIN, or add the site's module tree to the index's policy (rpath_prefixes).", tag_policy,
         strict},
        {"elf.origin_escapes", warn,
         "An ELF file searches for libraries above site-packages, where the wheel installs nothing.",
         "Compare the number of `..` after $ORIGIN with the depth of the file in the wheel.", tag_policy,
         strict},
        {"elf.needs_module", note, "An ELF file uses libraries in the site's module tree.",
         "Load the named module before using the wheel.", "the index's policy"},
        {"torch.requires_another", quarantine,
         "Requires-Dist allows only torch versions that lack symbols which the ELF files import.",
         "Correct Requires-Dist, or build against a torch version that it allows.",
         "the symbols of torch's own wheels", strict},
        {"torch.cannot_load", ignore,
         "No torch of this index that Requires-Dist allows can load the extensions of the wheel.",
         "Build it against that torch, or upload the torch that it was built against first.",
         "the symbols of both wheels"},
        {"gpu.malformed", warn,
         "Device code could not be read to its end; the list of GPUs may be incomplete.",
         "Report this as a bug: the compiler may use a new layout.", tag_policy},
        {"gpu.compressed", note,
         "Device code has a compression that this program cannot read; its GPUs are not listed.",
         "Check with a build of this program that has zstd, or compile with --no-offload-compress.",
         tag_policy},
        {"gpu.not_read", note,
         "A file of device code is in a form that this program does not know; its GPUs are not listed.",
         "Look whether the file is what its name says: it may be encrypted, compressed or a pointer of Git "
         "LFS.",
         tag_policy},
        {"gpu.unproven", quarantine,
         "Promised or required device code is missing, or in a part that could not be read.",
         "Fix the other device-code findings first; this one follows from them.", tag_policy},
        {"gpu.promised_not_there", reject,
         "The local version names a GPU platform, but the wheel has no code for it and needs none of its "
         "libraries.",
         "The build probably fell back to CPU: check its log for the detection of the toolkit, or remove the "
         "local version.",
         tag_policy},
        {"gpu.architecture_missing", reject,
         "The device code does not run on the GPUs of the index's machines.",
         "Build for these GPUs too (TORCH_CUDA_ARCH_LIST, PYTORCH_ROCM_ARCH), or correct the index's "
         "gpu_architectures.",
         "the index's policy"},
    };
    return table;
}

}  // namespace wheelyard::inspect
