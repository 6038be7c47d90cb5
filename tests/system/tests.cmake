# System tests: the real programs, real clients. tests/system/NAME_test.py is one ctest test `system/NAME`, label `system`.
#
# They find the programs of this build through WHEELYARD_BIN and the clients through WHEELYARD_CLIENTS (made once by
# scripts/prepare-clients and shared by all presets).
file(GLOB system_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/system/*_test.py)
foreach(source ${system_tests})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_test$" "" name ${name})
    add_test(NAME system/${name} COMMAND ${Python3_EXECUTABLE} -B ${source})
    set_tests_properties(system/${name} PROPERTIES LABELS system TIMEOUT 1500 ENVIRONMENT
        "WHEELYARD_BIN=${CMAKE_BINARY_DIR}/bin;WHEELYARD_CLIENTS=${CMAKE_SOURCE_DIR}/build/clients")
endforeach()
# What scripts/test runs of these: the promises, each where it broke most often. All need only what
# `scripts/install-deps --first` installs, and `scripts/test --land` runs none of them again under the sanitizers.
set(first
    builder        # the first wheel: real sdists become wheels that pip installs; 30 changes of this suite in two weeks
    tasks          # what is asked for is built once, whichever agent dies
    clients        # twine and uv upload, three generations of pip install
    avail_wheels   # what users are told of these wheels
    private_index  # 0 bytes for who may not read, at every address of the server: 42 changes, the most after the browser's
    operations     # every operation at every door: whatever changes an answer shows here first
    cli_docs       # and whatever changes an option shows here
    configuration  # mistakes in files are told by line and column
    cross_built    # real wheels for aarch64 and with device code pass; liars made of them do not
    attestations   # a real wheel with its real attestation
    old_data       # data of an earlier version is read: every change of a stored format
    agent_kills    # the agent is killed at any step, and all converges
    disk_faults    # the disk fails, fills or the process dies at any call that changes it: 19 changes
    power_cut      # what was acknowledged is there
    slurm          # jobs of a real Slurm: killed, cut, preempted
    governor       # builds under the governor, alone on the machine: 25 changes
)
list(TRANSFORM first PREPEND system/)
set_property(TEST ${first} APPEND PROPERTY LABELS first)
# What takes minutes: for `scripts/test --full` alone.
set_tests_properties(system/large_wheel system/pbs_on_path system/slurm_accounting system/soak system/openapi system/keycloak system/more_clients system/easybuild system/installers system/machine_index PROPERTIES LABELS full)
# With WHEELYARD_FULL=1 the whole suite, at a pace that a real server can serve.
set_tests_properties(system/pbs_on_path PROPERTIES TIMEOUT 2700)
# With WHEELYARD_FULL=1 half an hour of faults, then questions until there were enough.
set_tests_properties(system/soak PROPERTIES TIMEOUT 7200)
# With WHEELYARD_FULL=1 four sites, and wrong facts of each.
set_tests_properties(system/site_box PROPERTIES TIMEOUT 3600)
# Need what scripts/other-nodes makes; skipped without it.
set_tests_properties(system/avail_nodes system/other_root system/real_torch system/offline_torch system/foreign_closure system/governor_v2
    PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 3600)
# Need root and what scripts/package made, all but the first also what scripts/other-nodes makes; skipped without.
set_tests_properties(system/portable system/portable_agent system/deb_packages system/installed_agent system/starts PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 3600)
# Needs root and what scripts/other-nodes and `scripts/install-deps --package` make; skipped without.
set_tests_properties(system/rebuild PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 3600)
# The parts that need root and those two are skipped without; with WHEELYARD_OLDER_PACKAGES two versions, else this one twice.
set_tests_properties(system/upgrade PROPERTIES LABELS full TIMEOUT 3600)
# Compiles all packages, one command after the other, in a Debian of its own.
set_tests_properties(system/documents PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 14400)
# Skipped where no network namespace can be made.
set_tests_properties(system/try PROPERTIES SKIP_RETURN_CODE 77)
# Its builds fill the machine to its limits on purpose: beside another test it would measure that one.
set_tests_properties(system/governor system/governor_groups system/governor_launcher system/governor_memory system/governor_paths system/governor_tools system/governor_v2
    PROPERTIES RUN_SERIAL TRUE)
# Seconds of the longest in a run on two cores.
foreach(long uploaded_sources:200 browser:150 slurm:140 try:120 nodes:120 builder:100 tasks:100 agent_kills:90 pbs:90 postgres:90 wheelhouse:60 public_reports:60 site_resolve:60 reproduce:60 closure:40 site_box:60 installed:60 next_steps:45)
    string(REPLACE ":" ";" long ${long})
    list(GET long 0 name)
    list(GET long 1 seconds)
    wheelyard_long_test(system/${name} ${seconds})
endforeach()
