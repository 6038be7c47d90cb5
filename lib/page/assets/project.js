// The page of a project: the texts that install it and the grid, for the chosen machine and as sites report now.
"use strict";
(() => {
  const root = document.body.dataset.root;
  const {element, state, all} = yard;
  // The index of the chosen machine, where that is another than this one: null, or its address. There one looks and asks.
  const index_of_machine = () => {
    const {node, details} = yard.machine, here = new URL(root, location.href);
    const is_here = () => [...document.querySelectorAll("#offers li")].some(one => one.dataset.node === node) ||
      [...document.querySelectorAll("details[id^='wheel-'] tbody th")].some(one => one.textContent === node);
    if (!node || !details?.index || details.index === decodeURIComponent(here.pathname.split("/").at(-2)) || is_here()) return null;
    return new URL("../" + encodeURIComponent(details.index) + "/", here);
  };
  // The texts that install: the address as the reader sees it, the version for the chosen machine.
  const ways = document.getElementById("ways"), asks = [...document.querySelectorAll("main a[href*='builds/?package=']")];
  // "3.12:torch==2.6.0", "2.6.0:HASH,HASH"
  const pair_of = part => [part.slice(0, part.indexOf(":")), part.slice(part.indexOf(":") + 1)];
  // Whether a wheel of the grid runs on the chosen machine: as its section says of the node types of this index, otherwise by its label.
  const verdict_of = link => {
    const row = [...(document.querySelector(link.hash + " tbody")?.rows ?? [])].find(one => one.cells[0].textContent === yard.machine.node);
    if (row) return {runs: row.querySelector(".state").textContent, why: row.querySelector(".why")?.textContent ?? ""};
    const {details} = yard.machine, [platform] = link.textContent.split(" ");
    return !details?.machine || platform === "any" || platform === details.machine ? undefined : {runs: "no", why: "for " + platform + ", here is " + details.machine};
  };
  const write = () => {
    const {node, python, details} = yard.machine, {project, newest, only, hashes} = ways.dataset;
    const offers = [...document.querySelectorAll("#offers li")].map(part => part.dataset);
    const own = offers.find(one => one.node === node), is_elsewhere = !own && node && details?.machine && document.getElementById("grid");
    if (is_elsewhere && !yard.elsewhere) return yard.load(ways.dataset.script).then(write, () => {});
    const offer = own ?? (is_elsewhere ? yard.elsewhere.offer(project, node, verdict_of) : offers[0] ?? {node: "", offer: newest});
    const [usual, ...others] = offer.offer.split(" ");
    const by_python = others.map(pair_of);
    const known = new Map(by_python);
    const wanted = python && known.has(python) ? known.get(python) : python && others.length ? "" : usual;
    const on = (python ? " for Python " + python : "") + (offer.node ? " on " + offer.node : "");
    const address = new URL(root + "simple/", location.href);
    // pip takes packages over plain http only from this machine or from a host that it is to trust.
    const trusted = address.protocol !== "http:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(address.hostname);
    const version = requirement => requirement.slice(project.length + 2);
    const pinned = wanted === project ? newest : wanted;
    const of_version = new Map(hashes.split(" ").map(pair_of)).get(version(pinned));
    // The script of a job: for the node type, else for the first that has one, with its newest Python that has a wheel.
    const of_job = () => {
      const there = offer.node ? offer : offers.find(one => one.job && one.offer);
      if (offer.node && !offer.offer) return {text: "# no wheel of " + project + on};
      if (!there?.job) return {text: "# no batch system is known for " + offer.node};
      const setups = JSON.parse(there.setups), found = there.offer.split(" ").slice(1).map(pair_of)
        .filter(([name, wheel]) => wheel && Object.hasOwn(setups, name) && (!python || python === name)).pop();
      if (!found) return {text: "# no wheel of " + project + " for " + (python ? "Python " + python + " of " : "a Python of ") + there.node};
      const {program, lines} = setups[found[0]];
      return {node: there.node, job: there.job, submit: there.submit, setup: lines, program, wanted: found[1]};
    };
    for (const code of ways.querySelectorAll("code")) {
      const job = code.id === "install-job" ? of_job() : {};
      if (job.text) {
        code.textContent = job.text;
        continue;
      }
      const is_list = code.dataset.text.includes("{hashes}"), quote = text => is_list || /^[A-Za-z0-9.\/_=+-]+$/.test(text) ? text : "'" + text + "'";
      const plain = {project, node: job.node, job: job.job, setup: job.setup, submit: job.submit, program: job.program && quote(job.program)};
      const values = {...(job.node && plain), index: address.href, trust: trusted ? "" : (is_list ? "\n" : " ") + "--trusted-host " + address.hostname, only: wanted === project && !job.wanted ? only : "",
                      wanted: quote(job.wanted ?? wanted), pinned: quote(pinned),
                      hashes: (of_version ?? "").split(",").filter(Boolean).map(hash => " \\\n    --hash=sha256:" + hash).join("")};
      code.textContent = wanted || job.wanted ? code.dataset.text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all) : "# no wheel of " + project + on;
    }
    // The heading has the version that the box installs.
    const title = document.querySelector("h1 small");
    if (title) title.textContent = version(pinned || newest) + (pinned && pinned !== newest ? ", newest " + version(newest) : "");
    for (const copy of ways.querySelectorAll(".install button")) copy.hidden = copy.previousElementSibling.textContent.startsWith("# no ");
    const refused = document.getElementById("refused"), why = document.getElementById("install-why");
    for (const one of refused?.querySelectorAll("li") ?? []) one.hidden = one.dataset.node === node;
    if (refused) refused.hidden = !refused.querySelector("li:not([hidden])");
    const note = document.getElementById("install-note");
    note.hidden = !offer.offer || wanted && (python || new Set(by_python.map(([, wheel]) => wheel).filter(Boolean)).size < 2);
    note.textContent = "The newest version" + (offer.node ? " on " + offer.node : "") + " for each Python: " +
      by_python.map(([name, wheel]) => name + ": " + (wheel ? version(wheel) : "none")).join(" · ") + ".";
    const other = index_of_machine();
    if (other) {
      const link = element("a", details.index);
      link.href = new URL("project/" + encodeURIComponent(project) + "/", other);
      note.replaceChildren(node + " is of another index than this page: ", link, ".");
      note.hidden = false;
    }
    const request = new URLSearchParams({package: project, ...(python && {python}), ...(details?.accelerator && {accelerator: details.accelerator})});
    for (const ask of asks) ask.href = (other ?? root) + "builds/?" + request;
    why.hidden = Boolean(wanted);
    if (!wanted) yard.load(ways.dataset.script).then(() => yard.elsewhere.explain(why, offer, offers, by_python, on, (other ?? root) + "builds/?" + request)).catch(() => {});
  };
  // Tabs, of which one is a stop of the Tab key; the arrows go on. The open one is in the address and kept.
  const make_tabs = () => {
    const list = element("div", "", "tabs"), panels = [...ways.querySelectorAll(".way")];
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Install with");
    const tabs = panels.map(panel => {
      const tab = element("button", panel.querySelector("h3").textContent);
      Object.assign(tab, {type: "button", id: "tab-" + panel.id.slice(4)});
      for (const [name, value] of [["role", "tab"], ["aria-controls", panel.id]]) tab.setAttribute(name, value);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      panel.querySelector("h3").hidden = true;
      return tab;
    });
    const open = at => tabs.forEach((tab, one) => {
      tab.setAttribute("aria-selected", one === at);
      tab.tabIndex = one === at ? 0 : -1;
      panels[one].classList.toggle("open", one === at);
    });
    const choose = at => {
      open(at);
      const name = panels[at].id.slice(4);
      yard.remember("wheelyard-with", name);
      yard.address({with: at ? name : ""});
    };
    tabs.forEach((tab, at) => tab.addEventListener("click", () => choose(at)));
    list.addEventListener("keydown", event => {
      const step = {ArrowRight: 1, ArrowLeft: tabs.length - 1}[event.key];
      if (!step) return;
      const next = (tabs.indexOf(document.activeElement) + step) % tabs.length;
      choose(next);
      tabs[next].focus();
    });
    list.append(...tabs);
    ways.prepend(list);
    open(Math.max(0, panels.findIndex(panel => panel.id === "way-" + (new URLSearchParams(location.search).get("with") ?? yard.recall("wheelyard-with")))));
  };
  if (ways) {
    make_tabs();
    write();
    addEventListener("machine", write);
    // A server has a page on permanent configuration, a tree on a disk has none.
    const permanent = document.getElementById("permanent");
    if (permanent) fetch(root, {method: "HEAD"}).then(reply => { permanent.hidden = !reply.ok; }).catch(() => {});
  }
  // The line that verifies a wheel names the address as the reader sees it.
  for (const code of document.querySelectorAll("code.verify")) {
    code.textContent = code.textContent.replaceAll(code.dataset.index, new URL(root, location.href).href);
    code.nextElementSibling.hidden = false;
  }
  for (const copy of document.querySelectorAll(".install button")) {
    const code = copy.previousElementSibling;
    copy.addEventListener("click", () => navigator.clipboard.writeText(code.textContent).then(
      () => { copy.textContent = "Copied"; setTimeout(() => { copy.textContent = "Copy"; }, 2000); },
      () => getSelection().selectAllChildren(code)));
  }
  // A server has bills of materials, a tree on a disk has none.
  const boms = document.querySelectorAll(".sbom"), api = new URL(root + "../api/v1/", location.href);
  if (boms.length) fetch(api, {method: "HEAD"}).then(reply => {
    for (const bom of reply.ok ? boms : []) {
      const file = bom.parentNode.firstChild.pathname.split("/").pop();
      bom.querySelector("a").href = new URL("indexes/" + encodeURIComponent(bom.closest("details").dataset.index) + "/files/" + file + "/sbom", api);
      bom.hidden = false;
    }
  }).catch(() => {});
  // For who has a token: what may be done with the wheels.
  if (yard.token()) yard.load(document.body.dataset.act).catch(() => {});
  const grid = document.getElementById("grid");
  // The grid for the chosen machine: what runs there, what its site builds, and otherwise why not and what to do.
  const narrow = () => {
    const {node, python, details} = yard.machine, other = index_of_machine();
    for (const old of grid.querySelectorAll(".next")) old.remove();
    for (const part of grid.querySelectorAll("td")) {
      const links = [...part.querySelectorAll("a[href^='#wheel-']")], verdicts = links.map(link => node ? verdict_of(link) : undefined);
      const runs = verdicts.some(verdict => verdict?.runs === "yes");
      links.forEach((link, at) => {
        link.classList.toggle("excluded", verdicts[at]?.runs === "no");
        link.classList.toggle("unknown", verdicts[at]?.runs === "not known");
        link.hidden = runs && verdicts[at]?.runs !== "yes";
      });
      const builds = [...part.querySelectorAll(".build")];
      for (const build of builds) {
        const [, site, , accelerator] = build.dataset.cell.split("|");
        build.hidden = Boolean(details) && ((site && site !== details.site) || (accelerator !== "" && accelerator !== details.accelerator));
      }
      part.classList.toggle("mine", Boolean(python) && part.dataset.python === python);
      const is_out = links.length > 0 && verdicts.every(verdict => verdict?.runs === "no");
      if (!node || builds.some(build => !build.hidden) || (links.length > 0 && !is_out)) continue;
      const next = element("span", is_out ? verdicts[0].why + ": " : "nobody asked: ", "next why"), ask = element("a", "ask");
      ask.href = (other ?? root) + "builds/?" + new URLSearchParams({package: grid.dataset.project, version: part.dataset.version,
        ...(/^[0-9.]+t?$/.test(part.dataset.python) && {python: part.dataset.python}), ...(details?.accelerator && {accelerator: details.accelerator})});
      ask.setAttribute("aria-label", "Ask for " + grid.dataset.project + " " + part.dataset.version + ", " + part.dataset.python);
      next.append(ask);
      part.append(next);
    }
    for (const head of grid.tHead.rows[0].cells) head.classList.toggle("mine", Boolean(python) && head.textContent === "Python " + python);
  };
  if (grid) addEventListener("machine", () => {
    narrow();
    // On a phone the table is wider than its frame: the chosen column comes to the one of the versions.
    const [first] = grid.rows[0].cells, mine = grid.tHead.querySelector(".mine");
    if (mine) grid.parentElement.scrollLeft = mine.offsetLeft - first.offsetWidth;
  });

  const show_grid = data => {
    const attempts = new Map(all(data, "attempts").map(item => [item.site + " " + item.id, item]));
    const parts = new Map([...grid.querySelectorAll("td")].map(part => [part.dataset.version + "|" + part.dataset.python, part]));
    const shown = new Map([...grid.querySelectorAll(".build")].map(part => [part.dataset.cell, part]));
    for (const cell of yard.states_of(data, grid.dataset.project)) {
      const key = [cell.version, cell.site ?? "", cell.python, cell.accelerator ?? ""].join("|");
      let part = shown.get(key);
      if (!part) {
        const place = parts.get(cell.version + "|" + cell.python);
        if (!place || (cell.state === "have" && place.querySelector("a[href^='#wheel-']"))) continue;
        part = element("span", "", "build");
        part.dataset.cell = key;
        place.append(part);
      }
      part.replaceChildren(...state(cell, cell.state === "active" && attempts.get(cell.site + " " + cell.attempt)),
                           element("small", (cell.site ?? "request") + (cell.accelerator ? ", " + cell.accelerator : "")));
    }
    narrow();
  };
  if (grid) yard.follow(show_grid);

  // What the project needs, with whether the index has it for the machine, and what needs it: from the files of the search.
  const needed = document.getElementById("needed"), project = needed.dataset.project, max_needed = 50, max_needs = 60;
  const files = yard.open_search("../"), needs = [...document.querySelectorAll("#needs [data-need]")].slice(0, max_needs);
  // What judges versions and markers, for a page that has them.
  const versions = () => yard.load(document.getElementById("needs").dataset.script).then(() => yard.versions);
  let turns = 0;  // another machine may be chosen before all is known for this one
  const mark_needs = (event, turn = ++turns) => Promise.all(needs.map(async link => {
    const {need, wanted, pythons, machines, open} = link.dataset, row = await files.find("name=", need);
    const needed = (pythons ?? machines ?? open) === undefined || (await versions()).needed(link.dataset);
    const word = needed === false ? "not needed on my machine" : !row ? "not here" :
      wanted ? await (await versions()).word(row, need, wanted) : yard.suit_word(yard.suits(row[3], row[4], row[5]));
    if (turn !== turns) return false;
    link.parentElement.querySelector(".mine")?.remove();
    link.parentElement.append(" ", element("span", word, "mine " + (needed === false ? "quiet" : "state " + (/^(here|for)/.test(word) ? "have" : "excluded"))));
    if (row) link.href = "../" + encodeURIComponent(need) + "/";
    return ["not here", "no such version here", "not for my machine"].includes(word) && needed && [need + (wanted ?? ""), word];
  })).then(all => {
    const lacks = document.getElementById("install-lacks"), lacking = new Map(all.filter(Boolean));
    if (!lacks || turn !== turns) return;
    lacks.hidden = !lacking.size;
    lacks.textContent = "Required, and not in this index" + ([...lacking.values()].some(word => word.endsWith("machine")) ? " for my machine: " : ": ") +
      [...lacking.keys()].join(", ") + ". pip stops there, unless the index has an upstream.";
  }).catch(() => {});
  const show_needed = async () => {
    const items = [];
    await files.walk("needed=", project + " ", max_needed, (key, value) => {
      const item = element("li"), name = key.slice(project.length + 1), link = element("a", name);
      link.href = "../" + encodeURIComponent(name) + "/";
      item.append(link, ...(value.includes("extra") ? [" ", element("span", "optional", "quiet")] : []));
      return items.push(item) < max_needed;
    });
    const more = await files.count("needed=", project + " ") - items.length;
    needed.querySelector("ul").replaceChildren(...items);
    needed.querySelector("p").textContent = more > 0 ? "and " + more + " more" : "";
    needed.hidden = items.length === 0;
  };
  let are_marked = !needs.length;
  const begin_marks = () => {
    if (are_marked) return;
    are_marked = true;
    mark_needs();
    addEventListener("machine", mark_needs);
  };
  if (ways) yard.when_seen(ways, begin_marks);  // which says what pip stops at
  yard.when_seen(needed.parentElement, () => {
    begin_marks();
    show_needed().catch(() => {});
  });

  // Two wheels side by side: compare.js, for who comes to it.
  const compare = document.getElementById("compare"), wheels = [...document.querySelectorAll("details[id^='wheel-']")];
  if (compare && wheels.length > 1) {
    for (const wheel of wheels) {
      const link = element("a", "Compare");
      link.href = "?" + new URLSearchParams({new: wheel.id}) + "#compare";
      link.setAttribute("aria-label", "Compare " + wheel.querySelector("summary .mono").textContent + " with the version before");
      wheel.querySelector("p").append(" · ", link);
    }
    compare.hidden = false;
    yard.when_seen(compare, () => yard.load(compare.dataset.script));
    if (location.hash === "#compare") yard.reveal();
  }
})();
