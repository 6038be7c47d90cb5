// What changes between two renderings: the states that sites report, and the copy button. Without it the page shows the state
// at its rendering.
"use strict";
(() => {
  const body = document.body;
  const root = body.dataset.root;
  const element = yard.element;
  const words = {have: "available", wanted: "queued", active: "building", held: "held", "given up": "failed",
                 impossible: "impossible", excluded: "excluded", unknown: "unknown",
                 queued: "asked for", awaits_approval: "awaits approval", claimed: "building"};  // these three: of a request
  const colours = {"given up": "failed", impossible: "excluded", queued: "wanted", awaits_approval: "held", claimed: "active"};

  // The install line: the address as the reader sees it, the version for the chosen node type and Python. What is chosen is in
  // the address, for a link, and kept for the next project.
  const line = document.getElementById("install-line");
  const choices = ["node", "python"].map(name => [name, document.getElementById("install-" + name)]).filter(([, select]) => select);
  const write = () => {
    const {node, python} = Object.fromEntries(choices), {project} = line.dataset;
    const [usual, ...others] = (node ? node.value : line.dataset.wanted).split(" ");
    const by_python = others.map(part => [part.slice(0, part.indexOf(":")), part.slice(part.indexOf(":") + 1)]);
    const wanted = python?.value ? new Map(by_python).get(python.value) : usual;
    const on = (python?.value ? " for Python " + python.value : "") + (node?.selectedIndex ? " on " + node.selectedOptions[0].text : "");
    const address = new URL(root + "simple/", location.href);
    // pip takes packages over plain http only from this machine or from a host that it is to trust.
    const trusted = address.protocol !== "http:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(address.hostname);
    line.textContent = !wanted ? "# no wheel of " + project + on : "pip install --index-url " + address.href +
      (trusted ? " " : " --trusted-host " + address.hostname + " ") + (wanted === project ? line.dataset.withoutVersion : "") + (/^[A-Za-z0-9._=+-]+$/.test(wanted) ? wanted : "'" + wanted + "'");
    const version = requirement => requirement.slice(project.length + 2);
    const note = document.getElementById("install-note");
    note.hidden = python?.value || new Set(by_python.map(([, wheel]) => wheel).filter(Boolean)).size < 2;
    note.textContent = "The newest version" + on + " for each Python: " +
      by_python.map(([name, wheel]) => name + ": " + (wheel ? version(wheel) : "none")).join(" · ") + ".";
    document.getElementById("install-ask").search = new URLSearchParams({package: project, ...(python?.value && {python: python.value})});
  };
  if (line) {
    const asked = new URLSearchParams(location.search);
    for (const [name, select] of choices) {
      const key = "wheelyard-" + name;
      select.parentElement.hidden = false;
      const again = [...select.options].findIndex(choice => choice.text === (asked.get(name) ?? yard.recall(key)));
      if (again > 0) select.selectedIndex = again;
      select.addEventListener("change", () => {
        const chosen = select.selectedIndex ? select.selectedOptions[0].text : "";
        yard.remember(key, chosen);
        yard.address({[name]: chosen});
        write();
      });
    }
    write();
    // A server has a page on permanent configuration, a tree on a disk has none.
    const permanent = document.getElementById("permanent");
    if (permanent) fetch(root, {method: "HEAD"}).then(reply => { permanent.hidden = !reply.ok; }).catch(() => {});
    const copy = document.getElementById("copy");
    copy.hidden = false;
    copy.addEventListener("click", () => navigator.clipboard.writeText(line.textContent).then(
      () => { copy.textContent = "Copied"; setTimeout(() => { copy.textContent = "Copy"; }, 2000); },
      () => getSelection().selectAllChildren(line)));
  }
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    const more = target.closest("details") ?? target.querySelector("details");
    if (more) more.open = true;
    for (const old of document.querySelectorAll(".chosen")) old.classList.remove("chosen");
    target.classList.add("chosen");
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  const sites = document.getElementById("sites");
  const builds = document.getElementById("builds");
  const known = document.getElementById("known");  // of a project without wheels

  // A table of many columns can be narrowed to some of them.
  const max_columns = 8;
  if (sites && sites.rows[0].cells.length > max_columns) {
    const heads = [...sites.rows[0].cells].map(head => head.textContent.toLowerCase());
    const box = element("p", "", "search"), label = element("label", "Only columns with "), input = element("input");
    input.placeholder = "3.12";
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
      heads.forEach((head, at) => {
        const hidden = at > 0 && !wanted.every(word => head.includes(word));
        for (const line of sites.rows) line.cells[at].hidden = hidden;
      });
    });
    label.append(input);
    box.append(label);
    sites.parentElement.before(box);
  }

  const bar = attempt => {
    const made = element("progress");
    made.max = attempt.total;
    made.value = attempt.done;
    made.setAttribute("aria-label", attempt.done + " of " + attempt.total + " steps");
    return made;
  };
  // The address of a build that runs or has failed on the page of builds.
  const anchor = id => "build-" + id.replace(/[^A-Za-z0-9]/g, "");
  // The parts of a cell: its state as a word, a bar, the reason. `attempt`: of a build that runs.
  const state = (cell, attempt) => {
    const known = Object.hasOwn(words, cell.state) ? cell.state : "unknown";
    let word = element("span", words[known], "state " + (colours[known] ?? known));
    if (cell.attempt && (known === "active" || known === "given up")) {
      const link = element("a");
      link.href = root + "builds/#" + anchor(cell.attempt);
      link.append(word);
      word = link;
    }
    return [word, ...(attempt && attempt.total > 0 ? [" ", bar(attempt)] : []), ...(cell.reason ? [element("span", cell.reason, "why")] : [])];
  };
  const name = item => item.package + " " + item.version;
  const place = item => (item.site ? item.site + " · " : "") + "Python " + item.python + (item.accelerator ? ", " + item.accelerator : "");
  const memory = mib => mib < 1024 ? mib + " MiB" : Number((mib / 1024).toFixed(mib < 10240 ? 1 : 0)) + " GiB";
  // A site is late 10 minutes after its next tick was due, or after a day without a date for it.
  const is_late = site => Date.now() > (site.next_tick ? Date.parse(site.next_tick) + 6e5 : Date.parse(site.time) + 864e5);
  // One list of all sites, each item with the name of its site.
  const all = (data, list) => data.sites.flatMap(site => (site[list] ?? []).map(item => ({...item, site: site.site})));

  // A list is filled again only if it has changed, so that an open log stays open and keeps its place.
  const last = {};
  const fill = (id, data, items, empty) => {
    const text = JSON.stringify(data);
    if (last[id] === text) return;
    last[id] = text;
    const list = document.getElementById(id);
    const open = new Set([...list.querySelectorAll("li[id] > details[open]")].map(part => part.parentElement.id));
    list.replaceChildren(...(items.length ? items : [element("li", empty, "quiet")]));
    for (const item of list.children) if (open.has(item.id)) item.querySelector("details").open = true;
  };
  const row = (...cells) => {
    const made = element("li", "", "row");
    made.append(...cells);
    return made;
  };
  // Notes with dots between them, each a text or several parts.
  const dotted = (name, ...notes) => {
    const made = element(name, "", "quiet");
    made.append(...notes.filter(Boolean).flatMap((note, at) => [...(at > 0 ? [" · "] : []), ...[note].flat()]));
    return made;
  };
  const card = (id, item, word, kind, notes, parts) => {
    const made = element("li", "", "card"), title = element("h3", name(item) + " ");
    if (id) made.id = anchor(id);
    title.append(element("span", word, "state " + kind));
    if (id) {
      const link = element("a", "Log and history");
      link.href = root + "builds/build.html?" + new URLSearchParams({site: item.site, id});
      notes = [...notes, [link]];
    }
    made.append(title, dotted("p", place(item), ...notes), ...parts.filter(Boolean));
    return made;
  };
  const duration = seconds => seconds < 60 ? seconds + " s" : seconds < 3600 ? Math.floor(seconds / 60) + " min " +
    String(seconds % 60).padStart(2, "0") + " s" : Math.floor(seconds / 3600) + " h " + String(Math.floor(seconds / 60) % 60).padStart(2, "0") + " min";
  const phases = item => item.phases && item.phases.length === item.phase_seconds?.length &&
    element("p", item.phases.map((phase, at) => phase + " " + duration(item.phase_seconds[at])).join(" · "), "quiet");
  // The memory of the compiles over time, below the line of the limit.
  const picture = item => {
    const used = item.memory_mib, limit = item.memory_limit_mib;
    if (!used?.length || !limit) return null;
    const width = 240, height = 48, peak = Math.max(...used), top = Math.max(peak, limit);
    const y = mib => height - Math.floor(mib * height / top), x = at => Math.floor(at * width / used.length);
    const part = (name, values) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
      return made;
    };
    const image = part("svg", {class: "memory", viewBox: `0 -1 ${width} ${height + 2}`, role: "img", "aria-label": "Memory of its compiles over time"});
    image.append(part("path", {class: "limit", d: `M0 ${y(limit)}H${width}`}),
      part("path", {d: `M0 ${height}` + used.map((mib, at) => `L${x(at)} ${y(mib)}H${x(at + 1)}`).join("") + `V${height}`}));
    const made = element("p");
    made.append(image, ` memory of its compiles: ${memory(used.at(-1))} now, peak ${memory(peak)}, limit ${memory(limit)}`);
    return made;
  };
  const log_of = item => {
    if (!item.log_tail?.length) return null;
    const log = element("details");
    log.append(element("summary", "Last lines of its log"), element("pre", item.log_tail.join("\n")));
    return log;
  };
  const running = item => {
    let steps;
    if (item.total > 0) {
      steps = element("p");
      steps.append(bar(item), " " + item.done + " of " + item.total + " steps");
    }
    return card(item.id, item, item.phase || item.state, "active", [item.began && ["began ", yard.time(item.began)],
      item.memory_limit_mib > 0 && "at most " + memory(item.memory_limit_mib) + " of memory"], [steps, phases(item), picture(item), log_of(item)]);
  };
  const failed = item => {
    let remedy;
    if (item.remedy) {
      remedy = element("p", " " + item.remedy, "note");
      remedy.prepend(element("strong", "What to do:"));
    }
    return card(item.attempt, item, "failed", "failed", [item.phase && "in phase " + item.phase,
      item.began && item.ended && "after " + duration(Math.max(0, Math.floor((Date.parse(item.ended) - Date.parse(item.began)) / 1000))), item.ended && yard.time(item.ended)],
      [item.cause && element("pre", item.cause), remedy, log_of(item)]);
  };
  // For the page of one build.
  Object.assign(yard, {bar, dotted, duration, memory, phases, picture, place});
  if (!sites && !builds && !known) return;

  let is_first = true;
  const show_builds = data => {
    const attempts = all(data, "attempts"), failures = all(data, "failures");
    const waiting = [...(data.requests ?? []), ...all(data, "cells").filter(cell => cell.state === "wanted" || cell.state === "held")];
    fill("running", attempts, attempts.map(running), "Nothing is being built.");
    fill("failures", failures, failures.map(failed), "No build has failed.");
    fill("queue", waiting, waiting.map(cell => {
      const states = element("span");
      states.append(...state(cell));
      const title = element("strong", cell.asked ? "" : name(cell));
      if (cell.asked) {  // a request, which has a page
        const link = element("a", name(cell));
        link.href = root + "builds/request.html?" + new URLSearchParams({id: cell.id});
        title.append(link);
      }
      return row(title, dotted("span", place(cell), cell.purpose, cell.asked && ["asked ", yard.time(cell.asked)]), states);
    }), "Nothing waits.");
    const agents = data.sites.map(site => ({...site, late: is_late(site)}));
    fill("agents", agents.map(site => [site.site, site.time, site.late]), agents.map(site => {
      const life = element("span", "last report ");
      life.append(yard.time(site.time), " ", site.late ? element("span", "late", "state failed") : element("span", "as expected", "state have"));
      const held = (site.held_queues ?? []).map(queue => {
        const note = element("span", (queue.queue ? "Queue " + queue.queue : "The default queue") + " takes no jobs", "note");
        note.append(...(queue.since ? [", first refused ", yard.time(queue.since)] : []), ": " + queue.reason);
        return note;
      });
      return row(element("strong", site.site), life, dotted("span", site.next_tick && ["next expected ", yard.time(site.next_tick)]), ...held);
    }), "No site has reported.");
    if (is_first) reveal();  // the items are new ones
    is_first = false;
  };

  const show_sites = data => {
    const project = sites.dataset.project;
    const attempts = new Map(all(data, "attempts").map(item => [item.site + " " + item.id, item]));
    const shown = new Map([...sites.querySelectorAll("td[data-cell]")].map(part => [part.dataset.cell, part]));
    for (const cell of all(data, "cells")) {
      if (cell.package !== project || cell.purpose) continue;  // a test of a wheel is no state of its build
      const key = [cell.version, cell.site, cell.python, cell.accelerator ?? ""].join("|");
      shown.get(key)?.replaceChildren(...state(cell, cell.state === "active" && attempts.get(cell.site + " " + cell.attempt)));
    }
  };

  const show_known = data => {
    const attempts = new Map(all(data, "attempts").map(item => [item.site + " " + item.id, item]));
    const cells = all(data, "cells").filter(cell => cell.package === known.dataset.project && !cell.purpose);
    known.parentElement.hidden = cells.length === 0;
    fill("known", cells, cells.map(cell => {
      const states = element("span");
      states.append(...state(cell, cell.state === "active" && attempts.get(cell.site + " " + cell.attempt)));
      return row(element("strong", name(cell)), element("span", place(cell), "quiet"), states);
    }), "");
  };

  const refresh = () => fetch(root + "status.json", {cache: "no-cache"}).then(reply => reply.ok ? reply.json() : null).then(data => {
    if (!data) return;
    const time = document.getElementById("status-time");
    const newest = data.sites.map(site => site.time).sort().pop();
    if (time && newest) time.replaceChildren(yard.time(newest));
    if (builds) show_builds(data);
    if (sites) show_sites(data);
    if (known) show_known(data);
  }).catch(() => {});
  refresh();
  setInterval(() => { if (!document.hidden) refresh(); }, 30000);
})();
