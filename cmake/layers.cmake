# The layer table: every module of the tree, its folder, and the modules it may include.
#
#   wheelyard_group(NAME: what its modules are for)      the rows that follow, up to the next group
#   wheelyard_layer(MODULE FOLDER [modules it may include …])
#
# A module is a folder of sources; FOLDER/* is one module with the folders in it. CMake makes one static library
# `wheelyard_MODULE` of each row and links only what the row names; `ctest -R layers` reads this same file and fails on an
# #include that no row allows; docs/explanation/architecture.md's picture of the groups is drawn from it. Only direct edges
# count: a module that uses `base` through another names `base` too. The modules of one program share its namespace (decision 12).

function(wheelyard_group)
endfunction()

wheelyard_group(foundation: what every program shares)
wheelyard_layer(base         lib/base/*)
wheelyard_layer(io           lib/io                       base)
wheelyard_layer(accelerator  lib/accelerator              base io)
wheelyard_layer(wheel        lib/wheel                    base)
wheelyard_layer(simple       lib/simple                   base io wheel)
wheelyard_layer(status       lib/status                   base io accelerator)
wheelyard_layer(page         lib/page                     base)
wheelyard_layer(notify       lib/notify                   base io)

wheelyard_group(inspection: bytes of a wheel in, facts and verdicts out)
wheelyard_layer(verdict      lib/inspect/verdict          base)
wheelyard_layer(zip          lib/inspect/zip              base verdict)
wheelyard_layer(elf          lib/inspect/elf              base)
wheelyard_layer(gpu          lib/inspect/gpu              base accelerator zip elf)
wheelyard_layer(python_source lib/inspect/python           base)
wheelyard_layer(dist_info    lib/inspect/dist_info        base io accelerator wheel verdict zip)
wheelyard_layer(truth        lib/inspect/truth            base accelerator wheel verdict dist_info elf gpu)
wheelyard_layer(abi          lib/inspect/abi              base accelerator wheel elf truth)
wheelyard_layer(inspect      lib/inspect                  base io wheel verdict zip gpu python_source dist_info truth abi)

wheelyard_group(documents: what programs send each other, and every refusal)
wheelyard_layer(wire         lib/wire                     base io accelerator wheel elf inspect)
wheelyard_layer(attest       lib/attest/*                 base io accelerator wheel wire)

wheelyard_group(attempts: one build: its journal, its job, why it failed)
wheelyard_layer(attempt      builder/attempt              base io wire)
wheelyard_layer(doctor       builder/doctor               base io attempt)
wheelyard_layer(schedule     builder/schedule/*           base io attempt)

wheelyard_group(plan: what a site wants, what is missing, and the script that builds it)
wheelyard_layer(site         builder/site                 base io accelerator wheel simple wire attempt doctor schedule)
wheelyard_layer(remote       builder/remote               base io simple inspect wire attempt site)
wheelyard_layer(script       builder/script               base wheel simple attempt site schedule)
wheelyard_layer(plan         builder/plan                 base accelerator wheel abi simple attempt doctor site script)
wheelyard_layer(sources      builder/sources              base io wheel simple attempt doctor site plan)
wheelyard_layer(closure      builder/closure              base io wheel attempt site script plan sources)

wheelyard_group(agent: the steps of an attempt, and the commands of wheelyard-builder)
wheelyard_layer(steps        builder/steps                base io accelerator wheel simple verdict zip truth inspect wire attempt doctor site remote schedule script plan sources)
wheelyard_layer(agent        builder/agent                base wire attempt site remote script plan sources steps)
wheelyard_layer(show         builder/show                 base io simple attempt plan)
wheelyard_layer(builder      builder/*                    base io accelerator wheel simple status notify wire attempt doctor schedule site remote script plan sources closure agent show)

wheelyard_group(governor: when a compile may start; it and the builder include nothing of each other)
wheelyard_layer(memory       builder/governor/memory      base)
wheelyard_layer(admission    builder/governor/admission   base memory)
wheelyard_layer(launch       builder/governor/launch      base memory admission)
wheelyard_layer(interposer   builder/governor/interposer  launch)
wheelyard_layer(governor     builder/governor/*           base memory admission launch)

wheelyard_group(data: the catalog, the blobs and the tasks: all that the registry keeps)
wheelyard_layer(blobs        lib/store/blobs/*            base io)
wheelyard_layer(engine       lib/store/engine/*           base)
wheelyard_layer(catalog      lib/store/catalog/*          base io wheel simple engine)
wheelyard_layer(commit       lib/store/commit             base io catalog)
wheelyard_layer(nodes        lib/store/nodes/*            base io engine)
wheelyard_layer(tasks        lib/store/tasks/*            base io status wire engine)
wheelyard_layer(database     lib/store                    base catalog tasks nodes engine)
wheelyard_layer(lifecycle    lib/store/lifecycle          base io wheel wire blobs catalog database)

wheelyard_group(server: HTTP without rules, and the configuration)
wheelyard_layer(identity     registry/identity            base io)
wheelyard_layer(http         registry/http                base io wheel simple wire page status)
wheelyard_layer(server       registry/server              base io http page)
wheelyard_layer(config       registry/config              base io notify accelerator page wheel wire verdict dist_info inspect blobs catalog tasks nodes engine server identity)

wheelyard_group(rules: who may do what; uploads, files of upstreams, the API)
wheelyard_layer(access       registry/access              base io wheel wire catalog tasks http)
wheelyard_layer(intake       registry/intake/*            base io accelerator wheel verdict elf truth abi inspect wire attest blobs catalog lifecycle http config access commit simple)
wheelyard_layer(upstream     registry/upstream/*          base io wheel simple inspect wire attest blobs catalog database lifecycle http config commit intake)
wheelyard_layer(api          registry/api                 base io wheel abi status dist_info wire attest blobs nodes database lifecycle tasks http config access catalog commit intake upstream identity)

wheelyard_group(registry: the running server and the commands of wheelyard-registry)
wheelyard_layer(store        registry/store               base io blobs catalog nodes database lifecycle config commit)
wheelyard_layer(indexes      registry/indexes             base io wire catalog database server config commit api store upstream)
wheelyard_layer(serve        registry/serve/*             base io attest status notify blobs catalog database engine nodes tasks http server config access commit intake upstream api store indexes identity lifecycle)
wheelyard_layer(commands     registry/commands/*          base io wheel simple notify inspect wire attest blobs catalog commit database lifecycle config access intake upstream api store indexes)
wheelyard_layer(registry     registry)

wheelyard_group(avail_wheels: which wheel runs on which node)
wheelyard_layer(node         indexer/avail_wheels/node    base io accelerator wheel)
wheelyard_layer(query        indexer/avail_wheels/query   base io accelerator wheel python_source simple node)
wheelyard_layer(proof        indexer/avail_wheels/proof   base io wheel simple attest)
wheelyard_layer(avail_wheels indexer/avail_wheels/*       base io wheel simple status node query proof)

wheelyard_group(indexer: the published tree: pages, files and lists of wheels)
wheelyard_layer(tree         indexer/tree                 base io blobs catalog)
wheelyard_layer(pages        indexer/pages                base wheel simple catalog tree)
wheelyard_layer(web          indexer/web                  base io accelerator wheel status page verdict catalog tree pages node query)
wheelyard_layer(publish      indexer/publish              base blobs catalog tree pages page web)
wheelyard_layer(wheel_list   indexer/wheel_list           base io accelerator wheel simple catalog database tree pages publish)
wheelyard_layer(indexer      indexer/*                    base io simple blobs catalog database tree pages web publish wheel_list)

# Each of these has one test program, for itself and for the modules in its folders that no row before it claims.
set(WHEELYARD_TEST_PROGRAMS governor avail_wheels base io accelerator wheel simple status page notify inspect wire attest database builder registry indexer)

# wheelyard_pure(MODULE HEADER…): nothing in MODULE reaches one of these headers, directly or through others (`ctest -R layers`).
function(wheelyard_pure)
endfunction()
wheelyard_pure(plan lib/io/http_client.hpp lib/io/archive.hpp lib/base/files/file.hpp lib/base/process/process.hpp)
wheelyard_pure(verdict lib/io/http_client.hpp lib/base/files/file.hpp lib/base/process/process.hpp)
