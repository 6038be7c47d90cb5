// Versions, and whether one satisfies what is required: PEP 440 as installers judge it (lib/wheel/specifier.cpp is the same in C++).
"use strict";
yard.versions = (() => {
  const written = new RegExp(String.raw`^\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d*))?` +
    String.raw`(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$`, "i");
  const number = text => BigInt(text || 0);
  const phases = {a: 0, alpha: 0, b: 1, beta: 1};
  // null: no version.
  const parse = text => {
    const found = written.exec(text);
    if (!found) return null;
    const [, epoch, release, phase, pre, minus, word, post, dev, dev_number, local] = found;
    return {epoch: number(epoch), release: release.split(".").map(number), pre: phase && [phases[phase.toLowerCase()] ?? 2, number(pre)],
            post: minus || word ? number(minus ?? post) : null, dev: dev ? number(dev_number) : null,
            local: local ? local.toLowerCase().split(/[-_.]/).map(part => /^\d+$/.test(part) ? number(part) : part) : []};
  };
  const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  const first_order = (...orders) => orders.find(one => one !== 0) ?? 0;
  const at = (release, place) => release[place] ?? 0n;
  const release_order = (a, b) => first_order(0, ...Array.from({length: Math.max(a.length, b.length)}, (_, place) => order(at(a, place), at(b, place))));
  // A pre-release comes before its release, a development release before all of its kind, a post-release after.
  const phase_of = version => version.pre ?? [version.post === null && version.dev !== null ? -1 : 3, 0n];
  const public_order = (a, b) => first_order(order(a.epoch, b.epoch), release_order(a.release, b.release), order(phase_of(a)[0], phase_of(b)[0]),
    order(phase_of(a)[1], phase_of(b)[1]), order(a.post ?? -1n, b.post ?? -1n), order(a.dev ?? Infinity, b.dev ?? Infinity));
  // In a local version, a number comes after a word.
  const part_order = (a, b) => a === undefined || b === undefined ? order(a !== undefined, b !== undefined) :
    typeof a === typeof b ? order(a, b) : typeof a === "string" ? -1 : 1;
  const local_order = (a, b) => first_order(0, ...Array.from({length: Math.max(a.length, b.length)}, (_, place) => part_order(a[place], b[place])));
  const full_order = (a, b) => first_order(public_order(a, b), local_order(a.local, b.local));
  const begins = (version, wanted, count) => version.epoch === wanted.epoch &&
    Array.from({length: count}, (_, place) => at(version.release, place) === at(wanted.release, place)).every(Boolean);
  const is_before = version => version.pre || version.dev !== null;
  const equals = (version, wanted, is_prefix) => is_prefix ? begins(version, wanted, wanted.release.length) :
    (wanted.local.length ? full_order : public_order)(version, wanted) === 0;
  const rules = {
    "~=": (version, wanted) => full_order(version, wanted) >= 0 && begins(version, wanted, wanted.release.length - 1),
    "==": equals,
    "!=": (...all) => !equals(...all),
    "<=": (version, wanted) => public_order(version, wanted) <= 0,
    ">=": (version, wanted) => full_order(version, wanted) >= 0,
    // Neither a pre-release of the version, nor a post-release or a local one of it, unless it is one itself.
    "<": (version, wanted) => full_order(version, is_before(wanted) ? wanted : {...wanted, dev: 0n}) < 0,
    ">": (version, wanted) => public_order(version, wanted) > 0 && (wanted.dev !== null || wanted.post !== null ||
      first_order(order(version.epoch, wanted.epoch), release_order(version.release, wanted.release), ...[0, 1].map(part => order((version.pre ?? [-1])[part] ?? 0n, (wanted.pre ?? [-1])[part] ?? 0n))) !== 0),
  };
  // Pre-releases count, too: an installer takes one where nothing else is left. What cannot be read excludes nothing.
  const satisfies = (text, specifiers) => {
    const version = parse(text);
    return specifiers.split(",").filter(part => part.trim()).every(part => {
      const [, rule, wanted] = /^\s*(===|~=|==|!=|<=|>=|<|>)\s*(.*?)\s*$/.exec(part) ?? [];
      if (rule === "===") return text.trim().toLowerCase() === wanted.toLowerCase();
      const is_prefix = wanted?.endsWith(".*") ?? false, parsed = parse(is_prefix ? wanted.slice(0, -2) : wanted ?? "");
      return !parsed || (version !== null && rules[rule](version, parsed, is_prefix));
    });
  };
  // The files of a Simple page that satisfy it. A yanked one counts only if its version is named.
  const version_of = name => name.endsWith(".whl") ? name.split("-")[1] : name.replace(/\.(zip|tar\.[a-z0-9]+|tgz)$/, "").split("-").pop();
  const matching = (page, wanted) => page.files.filter(file => (!file.yanked || /^\s*===?[^,*]*$/.test(wanted)) && satisfies(version_of(file.filename), wanted));
  // Whether a file is a wheel for the reader's machine, as far as its tags say.
  const runs = file => {
    const {details} = yard.machine, mine = yard.my_pythons(), [pythons, abi, platforms] = file.filename.replace(/\.whl$/, "").split("-").slice(-3);
    if (!file.filename.endsWith(".whl")) return false;
    const list = pythons.split(".").map(tag => tag === "py3" ? "any 3" : tag.replace(/^cp3/, "3.") + (abi === "abi3" ? " and newer" : abi.endsWith("t") ? "t" : ""));
    if (mine.length && !mine.some(python => yard.takes(list, python) && satisfies(python.replace(/t$/, "") + ".99", file["requires-python"] ?? ""))) return false;
    return !details?.machine || platforms.split(".").some(platform => platform === "any" || platform.endsWith("_" + details.machine));
  };
  // Whether the machine needs what has a marker (indexer/web/where_needed.hpp); undefined: that depends on what is not known of it.
  const needed = ({pythons, machines, open}) => {
    const {details} = yard.machine, [first, last] = (pythons ?? "").split("-");
    const by_python = new Set(yard.my_pythons().map(python => parseInt(python.slice(2))).map(minor => minor >= first && minor <= (last || minor)));
    const parts = [!pythons || (by_python.size === 1 ? by_python.has(true) : undefined),
                   !machines || (details?.machine && machines.split(" ").includes(details.machine))];
    return parts.includes(false) ? false : (open === undefined && parts.every(Boolean)) || undefined;
  };
  // What of a project satisfies a requirement: the search knows its newest version alone, its Simple page every file.
  const word = async (row, name, wanted) => {
    const {node, python} = yard.machine;
    let suited = yard.suits(row[3], row[4], row[5]);
    if (node || python || !satisfies(row[0], wanted)) {
      const files = matching(await yard.get("../../simple/" + encodeURIComponent(name) + "/index.json"), wanted);
      if (!files.length) return "no such version here";
      // Versions may have other GPU architectures than their project.
      const found = files.filter(runs).map(file => yard.suits([], [], row[8]?.[version_of(file.filename)] ?? row[5]));
      if (node || python) suited = suited !== false && found.length > 0 && (found.includes(true) || undefined);
    }
    return yard.suit_word(suited);
  };
  return {satisfies, needed, word};
})();
