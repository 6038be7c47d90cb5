// What changes between two renderings: the states that sites report, and the copy button. Without it the page shows the state
// at its rendering.
"use strict";
(() => {
  const body = document.body;
  const root = body.dataset.root;
  const element = yard.element;
  const words = {have: "available", wanted: "queued", active: "building", held: "held", "given up": "failed",
                 impossible: "impossible", excluded: "excluded", unknown: "unknown"};
  const colours = {"given up": "failed", impossible: "excluded"};

  // The install line: the address as the reader sees it, the version of the chosen node type.
  const line = document.getElementById("install-line");
  const node = document.getElementById("install-node");
  const write = () => {
    const address = new URL(root + "simple/", location.href);
    // pip takes packages over plain http only from this machine or from a host that it is to trust.
    const trusted = address.protocol !== "http:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(address.hostname);
    const wanted = node ? node.value : line.dataset.wanted;
    line.textContent = "pip install --index-url " + address.href + (trusted ? " " : " --trusted-host " + address.hostname + " ") +
      (/^[A-Za-z0-9._=-]+$/.test(wanted) ? wanted : "'" + wanted + "'");
  };
  if (line) {
    write();
    if (node) {
      node.parentElement.hidden = false;
      node.addEventListener("change", write);
    }
    const copy = document.getElementById("copy");
    copy.hidden = false;
    copy.addEventListener("click", () => navigator.clipboard.writeText(line.textContent).then(
      () => { copy.textContent = "Copied"; setTimeout(() => { copy.textContent = "Copy"; }, 2000); },
      () => getSelection().selectAllChildren(line)));
  }
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();

  const sites = document.getElementById("sites");
  const builds = document.getElementById("builds");
  if (!sites && !builds) return;

  const state = (cell, attempt) => {
    const known = Object.hasOwn(words, cell.state) ? cell.state : "unknown";
    const td = element("td");
    td.append(element("span", words[known], "state " + (colours[known] ?? known)));
    if (attempt && attempt.total > 0) td.append(" ", bar(attempt));
    if (cell.reason) td.append(element("span", cell.reason, "why"));
    return td;
  };
  const bar = attempt => {
    const made = element("progress");
    made.max = attempt.total;
    made.value = attempt.done;
    made.setAttribute("aria-label", attempt.done + " of " + attempt.total + " steps");
    return made;
  };
  const row = (...cells) => {
    const made = element("tr");
    made.append(...cells);
    return made;
  };
  const fill = (id, rows, empty, width) => {
    const table = document.getElementById(id);
    if (!table) return;
    if (rows.length === 0) {
      const cell = element("td", empty, "quiet");
      cell.colSpan = width;
      rows.push(row(cell));
    }
    table.tBodies[0].replaceChildren(...rows);
  };
  const when = text => text ? text.slice(0, 16).replace("T", " ") + " UTC" : "";
  const name = item => item.package + " " + item.version;
  const build = item => "Python " + item.python + (item.accelerator ? ", " + item.accelerator : "");
  // A site is late 10 minutes after its next tick was due, or after a day without a date for it.
  const is_late = site => Date.now() > (site.next_tick ? Date.parse(site.next_tick) + 6e5 : Date.parse(site.time) + 864e5);
  // One list of all sites, each item with the name of its site.
  const all = (data, list) => data.sites.flatMap(site => (site[list] ?? []).map(item => ({...item, site: site.site})));

  const late = site => {
    const td = element("td");
    td.append(is_late(site) ? element("span", "late", "state failed") : element("span", "as expected", "state have"));
    return td;
  };
  const show_builds = data => {
    fill("agents", data.sites.map(site => row(element("th", site.site),
      element("td", when(site.time)), element("td", when(site.next_tick)), late(site))), "No site has reported.", 4);
    fill("running", all(data, "attempts").map(item => {
      const progress = element("td");
      if (item.total > 0) progress.append(bar(item), " " + item.done + " of " + item.total);
      const log = element("td");
      if (item.log_tail && item.log_tail.length) {
        const more = element("details");
        more.append(element("summary", "last lines"), element("pre", item.log_tail.join("\n")));
        log.append(more);
      }
      return row(element("th", name(item)), element("td", item.site), element("td", build(item)),
        element("td", item.phase || item.state), progress, log);
    }), "Nothing is being built.", 6);
    fill("queue", all(data, "cells").filter(cell => cell.state === "wanted" || cell.state === "held").map(cell =>
      row(element("th", name(cell)), element("td", cell.site), element("td", build(cell)), state(cell))), "Nothing waits.", 4);
    fill("failures", all(data, "failures").map(item => row(element("th", name(item)), element("td", item.site), element("td", build(item)),
      element("td", when(item.ended)), element("td", item.cause), element("td", item.remedy))), "No build has failed.", 6);
  };

  const show_sites = data => {
    const project = sites.dataset.project;
    const attempts = new Map(all(data, "attempts").map(item => [item.site + " " + item.id, item]));
    for (const cell of all(data, "cells")) {
      if (cell.package !== project) continue;
      const key = [cell.version, cell.site, cell.python, cell.accelerator ?? ""].join("|");
      for (const old of sites.querySelectorAll("td[data-cell]"))
        if (old.dataset.cell === key) {
          const made = state(cell, cell.state === "active" && attempts.get(cell.site + " " + cell.attempt));
          made.dataset.cell = key;
          old.replaceWith(made);
        }
    }
  };

  const refresh = () => fetch(root + "status.json", {cache: "no-cache"}).then(reply => reply.ok ? reply.json() : null).then(data => {
    if (!data) return;
    const time = document.getElementById("status-time");
    if (time) time.textContent = when(data.sites.map(site => site.time).sort().pop());
    if (builds) show_builds(data);
    if (sites) show_sites(data);
  }).catch(() => {});
  refresh();
  setInterval(() => { if (!document.hidden) refresh(); }, 30000);
})();
