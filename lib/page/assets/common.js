// What the scripts of several pages share.
"use strict";
const yard = (() => {
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  // Times are relative to now; the exact one is shown on demand, and where a month has passed.
  const exact = text => text.slice(0, 16).replace("T", " ") + " UTC";
  const ago = text => {
    const seconds = (Date.parse(text) - Date.now()) / 1000, far = Math.abs(seconds);
    if (!(far < 30 * 86400)) return exact(text);
    const [size, unit] = far < 5400 ? [60, "minute"] : far < 129600 ? [3600, "hour"] : [86400, "day"];
    return new Intl.RelativeTimeFormat("en", {numeric: "auto"}).format(Math.round(seconds / size), unit).replace("this minute", "just now");
  };
  const set_time = (part, text) => {
    part.dateTime = text.replace(/\.\d+/, "");
    part.textContent = ago(text);
    part.title = exact(text);
    return part;
  };
  const time = text => set_time(element("time"), text);
  const refresh_times = () => { for (const part of document.querySelectorAll("time[datetime]")) set_time(part, part.dateTime); };
  refresh_times();
  setInterval(refresh_times, 60000);
  // A phone shows the rows of a table as cards, each cell with the head of its column.
  const label_cells = table => {
    const heads = [...table.tHead.rows[0].cells].map(head => head.textContent);
    for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, at) => { if (at > 0) cell.dataset.label = heads[at] + ": "; });
    table.classList.add("cards");
  };
  // A sentence in the page's status line; what stands in backticks is code.
  const say = (line, text, is_error) => {
    line.replaceChildren(...text.split("`").map((part, at) => at % 2 ? element("code", part) : part));
    line.className = is_error ? "note" : "quiet";
  };
  // A button that copies a text, or what a function gives then, and "Copied" once it has.
  const copy_button = text => {
    const copy = element("button", "Copy");
    copy.type = "button";
    copy.addEventListener("click", () => navigator.clipboard.writeText(typeof text === "function" ? text() : text).then(() => { copy.textContent = "Copied"; }, () => {}));
    return copy;
  };
  // A request with a token, POST where there is a body. Fails with the server's own words. `credentials`: whether the browser takes cookies.
  const call = (url, token, body, credentials = "omit") => fetch(url, {
    method: body ? "POST" : "GET", credentials, cache: "no-store", redirect: "error",
    headers: {Accept: "application/json", Authorization: "Bearer " + token.trim(), ...(body && {"Content-Type": "application/json"})},
    body: body && JSON.stringify(body),
  }).then(async reply => {
    if (reply.ok) return reply;
    const problem = await reply.json().catch(() => ({}));
    throw new Error([problem.detail || "The server answers " + reply.status + ".", problem.value, problem.advice]
      .filter(Boolean).join(" – "));
  });
  const get = url => fetch(url).then(reply => {
    if (!reply.ok) throw new Error(reply.status);
    return reply.json();
  });
  // The link to the page of log-ins, in the header where people can log in; once they have, their name, and the page shows their
  // rights and logs out.
  const account = document.getElementById("account");
  const has_login = () => Date.parse(sessionStorage.getItem("wheelyard-login-end")) > Date.now();
  const show_account = () => {
    const kept = key => sessionStorage.getItem("wheelyard-" + key) ?? "", id = kept("login-id");
    const is_in = id && kept("token").startsWith(id + "_") && has_login();  // another token may be typed
    if (account) account.textContent = is_in ? kept("login-who") : "Log in";
  };
  // `link` leads there, too, if people can log in; `back` says to which address of ours that page leads back.
  const offer_login = (link, back) => {
    if (!account) return;
    link.href = account.href;
    link.hidden = false;
    link.addEventListener("click", () => sessionStorage.setItem("wheelyard-back", back()));
  };
  try {
    show_account();
    if (account) offer_login(account, () => location.pathname + location.search + location.hash);
    addEventListener("pageshow", show_account);  // a page that comes back from the browser's cache
  } catch { /* a browser may forbid storage */ }
  // The private indexes that a token reads. With `opens` the server gives this browser a cookie for the pages of each: a log-out, for
  // which no token is needed, closes those that the browser remembers.
  const home = document.querySelector("nav .farm").href, opened_key = "wheelyard-open " + new URL(home).pathname;
  const opened = () => JSON.parse(localStorage.getItem(opened_key) ?? "[]");
  const private_of = (token, opens) => call(new URL("api/v1/private-indexes", home), token, null, opens ? "same-origin" : "omit").then(reply => reply.json()).then(({indexes}) => {
    if (opens && indexes.length) localStorage.setItem(opened_key, JSON.stringify([...new Set([...opened(), ...indexes.map(({name}) => name)])]));
    return indexes.filter(({listed}) => listed).map(({name, title}) => {
      const item = element("li", "", "card"), head = element("h3");
      head.append(Object.assign(element("a", name), {href: new URL(encodeURIComponent(name) + "/", home)}));
      item.append(head, element("p", title), element("p", "private", "quiet"));
      return item;
    });
  });
  const close_private = async () => {
    for (let names = opened(); names.length; names = names.slice(16)) {  // as many as one answer closes (registry/access/limits.hpp)
      const reply = await fetch(new URL("api/v1/private-indexes/end?" + new URLSearchParams({indexes: names.slice(0, 16)}), home), {cache: "no-store"});
      if (!reply.ok) throw new Error("Private pages are still open in this browser: the server answers " + reply.status + ". Try again, or close the browser.");
    }
    localStorage.removeItem(opened_key);
  };
  // To where people log in, or enter a token, and back.
  const lead_to_login = link => {
    link.href = new URL("api/v1/login/", home).href;
    link.addEventListener("click", () => sessionStorage.setItem("wheelyard-back", location.pathname + location.search + location.hash));
    return link;
  };
  const list_private = async () => {
    const list = document.querySelector("ul#indexes"), closed = document.getElementById("needs-token"), token = sessionStorage.getItem("wheelyard-token");
    if (!account && opened().length) document.querySelector("nav").append(lead_to_login(element("a", "Log out")));
    if (list && token) list.append(...await private_of(token).catch(() => []));
    if (!closed) return;
    lead_to_login(closed.querySelector("a"));
    // A token that was typed on another page opens nothing.
    if (token && token === sessionStorage.getItem("wheelyard-login-token")) await private_of(token, true).catch(() => {});
    // The browser sent no cookie with a link of another site; from here it does. Once, whatever comes. Nothing is loaded where two
    // addresses differ in what follows `#` alone.
    const here = location.pathname + location.search, again = location.pathname + "?again";
    if (document.referrer === location.origin + again || !(await fetch(here, {method: "HEAD", headers: {Accept: "text/html"}})).ok) return;
    const whole = here + location.hash;
    history.replaceState(null, "", again);
    location.replace(whole);
  };
  list_private().catch(() => {});  // a browser may forbid storage
  // Small letters, by the rule of the keys of the search (lib/base/text/utf8.hpp).
  const fold = text => text.replace(/[A-Z\u00c0-\u017f\u0386-\u03ab\u0400-\u042f]/g, letter => letter.toLowerCase()[0]);
  // What is loaded for a part of the page only when the reader sees it.
  const when_seen = (part, start) => new IntersectionObserver((entries, self) => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    self.disconnect();
    start();
  }).observe(part);
  // A script that only some readers need.
  const loading = new Map();
  const load = url => {
    if (!loading.has(url)) loading.set(url, new Promise((done, fail) => {
      const script = element("script");
      script.addEventListener("load", done);
      script.addEventListener("error", fail);
      script.src = url;
      document.head.append(script);
    }));
    return loading.get(url);
  };
  // What the token of this tab may do with a thing: act.js, for who has one.
  const acts = (...of) => token() ? load(document.body.dataset.act).then(() => yard.act.buttons(...of)) : Promise.resolve([]);
  // What the reader chose, for the next page, or what an address named, for those of this tab: a colleague's link replaces no choice.
  // A browser may forbid storage.
  const of_this_tab = key => { try { return sessionStorage.getItem(key); } catch { return null; } };
  const token = () => of_this_tab("wheelyard-token") ?? "";
  const recall = key => { try { return of_this_tab(key) ?? localStorage.getItem(key); } catch { return null; } };
  const remember = (key, value, of_tab) => {
    try {
      (of_tab ? sessionStorage : localStorage).setItem(key, value);
      if (!of_tab) sessionStorage.removeItem(key);
    } catch { /* only this page knows it */ }
  };
  // What the reader chose, in the address of this page; an empty value leaves it. A browser may forbid that too, as of a file.
  // Back leads to the address before a step.
  const address = (values, is_step) => {
    const here = new URL(location.href);
    for (const [name, value] of Object.entries(values)) value ? here.searchParams.set(name, value) : here.searchParams.delete(name);
    try { history[is_step ? "pushState" : "replaceState"](null, "", here); } catch { /* the page goes on */ }
  };
  // Light or dark, where the reader wants another than the system.
  const theme = document.getElementById("theme"), colours_of = theme.querySelector("select");
  const show_theme = () => { document.documentElement.style.colorScheme = colours_of.value; };
  theme.hidden = false;
  colours_of.value = recall("wheelyard-theme") ?? "";
  show_theme();
  colours_of.addEventListener("change", () => {
    remember("wheelyard-theme", colours_of.value);
    show_theme();
  });
  // The states that sites report, as every page shows them.
  const words = {have: "built", wanted: "queued", active: "building", held: "held", "given up": "failed",
                 impossible: "impossible", excluded: "excluded", unknown: "unknown",
                 queued: "asked for", awaits_approval: "awaits approval", claimed: "building", done: "done", failed: "failed", cancelled: "cancelled"};  // these six: of a request
  const colours = {held: "wanted", "given up": "failed", impossible: "excluded", queued: "wanted", awaits_approval: "wanted", claimed: "active", done: "have", cancelled: "excluded"};
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
    const page = cell.page ?? (cell.attempt && (known === "active" || known === "given up") ? "#" + anchor(cell.attempt) : null);
    if (page !== null) {
      const link = element("a");
      link.href = document.body.dataset.root + "builds/" + page;
      link.append(word);
      word = link;
    }
    return [word, ...(attempt && attempt.total > 0 ? [" ", bar(attempt)] : []), ...(cell.reason ? [element("span", cell.reason, "why")] : [])];
  };
  // Whether both are of one wheel of one site.
  const is_same_wheel = (one, other) => ["site", "package", "version", "python", "accelerator"].every(key => (one[key] ?? "") === (other[key] ?? ""));
  // One list of all sites, each item with the name of its site.
  const all = (data, list) => data.sites.flatMap(site => (site[list] ?? []).map(item => ({...item, site: site.site})));
  // The states of a project's wheels, with what people asked for, no site reports, and has not come: who asks next wants to know what
  // failed. Of several requests for a wheel the newest counts, which is the first (indexer/web/farm_report.cpp is the same in C++).
  const states_of = (data, project) => {
    const is_it = one => one.package === project && !one.purpose, wheel = one => [one.version, one.python, one.accelerator ?? ""].join("|");
    const cells = all(data, "cells").filter(is_it), known = new Set(cells.map(wheel));
    const asked = (data.requests ?? []).filter(is_it).filter(one => !known.has(wheel(one)) && known.add(wheel(one)) && (!one.ended || one.state === "failed"));
    return [...asked.map(one => ({...one, page: "request.html?" + new URLSearchParams({id: one.id})})), ...cells];
  };

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
  // What sites report, now and twice in a minute. Without it a page shows the state at its rendering.
  const follow = show => {
    const refresh = () => fetch(document.body.dataset.root + "status.json", {cache: "no-cache"}).then(reply => reply.ok ? reply.json() : null).then(data => {
      if (!data) return;
      const part = document.getElementById("status-time"), newest = data.sites.map(site => site.time).sort().pop();
      if (part && newest) part.replaceChildren(time(newest));
      show(data);
    }).catch(() => {});
    refresh();
    setInterval(() => { if (!document.hidden) refresh(); }, 30000);
    addEventListener("status", refresh);  // a request of this page has another state
  };
  // The reader's machine: a node type of a site and a Python, chosen in the header or by the address, kept for the next page.
  // `details` are what the site reports of it, null until that is known.
  const asked = new URLSearchParams(location.search), chooser = document.getElementById("machine");
  const machine = {details: null};
  // In addresses "python" is a filter of the search and of a site's table, and a field of the form that asks.
  for (const [name, key] of [["node", "node"], ["python", "my_python"]]) machine[name] = asked.get(key) ?? recall("wheelyard-" + name) ?? "";
  const name_of = (site, node) => site.site + (node.name ? ", " + node.name : "") +
    (node.accelerator && node.accelerator !== node.name ? " (" + node.accelerator + ")" : "");
  const folders = chooser ? chooser.dataset.indexes.split(" ") : [];
  // What the sites of an index report; one that does not answer has none.
  const report_of = folder => fetch(folder + "status.json", {cache: "no-cache"}).then(reply => reply.ok ? reply.json() : {sites: []}).catch(() => ({sites: []}));
  const nodes_of = folders => Promise.all(folders.map(report_of)).then(all => all.flatMap(data => data.sites.map(site => ({...site, index: data.index}))).flatMap(site =>
      (site.nodes ?? []).map(node => ({name: name_of(site, node), site: site.site, index: site.index, accelerator: node.accelerator ?? "", machine: node.machine || site.machine || "",
                                       gpus: node.gpu_code ?? node.architectures ?? [], pythons: site.pythons ?? [], seen: Date.now()}))));
  let nodes = null;
  const load_nodes = () => nodes ??= nodes_of(folders);
  // The folders of all indexes, by the front page; a tree of one index has none.
  const all_indexes = () => {
    return fetch(home, {headers: {Accept: "text/html"}}).then(reply => reply.text()).then(text =>
      (new DOMParser().parseFromString(text, "text/html").getElementById("search")?.dataset.folders.split(" ") ?? []).map(folder => new URL(folder + "../", home).href)).catch(() => []);
  };
  const announce = of_tab => {
    if (!document.getElementById("no-node")) {
      for (const name of ["node", "python"]) remember("wheelyard-" + name, machine[name], of_tab);
      remember("wheelyard-machine", JSON.stringify(machine.details), of_tab);
    }
    // Anyone who opens the address sees the same.
    address({node: machine.node, my_python: machine.python});
    chooser.querySelector("strong").textContent = [machine.node, machine.python && "Python " + machine.python].filter(Boolean).join(", ") || "any";
    const there = document.getElementById("machine-site"), {details} = machine;
    there.hidden = !details?.index;
    if (details?.index) there.href = new URL(encodeURIComponent(details.index) + "/site/" + encodeURIComponent(details.site) + "/", home);
    dispatchEvent(new Event("machine"));
  };
  // A node type that no site reports, as of a mistyped address or a site that is gone, is said and not chosen. An address may
  // name one of another index.
  const find_details = async () => {
    const is_it = node => node.name === machine.node, found = (await load_nodes()).find(is_it);
    machine.details = found ?? (machine.node ? (await nodes_of(await all_indexes())).find(is_it) : null) ?? null;
    document.getElementById("no-node")?.remove();
    if (!machine.node || machine.details) return;
    const note = element("p", "No site of these pages reports the node type “" + machine.node + "”, so none is chosen. My machine, above, lists those that they report.", "note");
    note.id = "no-node";
    note.setAttribute("role", "status");
    document.getElementById("content").prepend(note);
    machine.node = "";
  };
  if (chooser) {
    chooser.hidden = false;
    const selects = [...chooser.querySelectorAll("select")];
    const fill = all => {
      const values = {node: [...new Set(all.map(node => node.name))], python: [...new Set(all.flatMap(node => node.pythons))]};
      for (const select of selects) {
        const known = values[select.dataset.choice];
        if (machine[select.dataset.choice] && !known.includes(machine[select.dataset.choice])) known.push(machine[select.dataset.choice]);
        known.sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
        select.replaceChildren(new Option("any", ""), ...known.map(value => new Option(value, value)));
        select.value = machine[select.dataset.choice];
      }
    };
    chooser.addEventListener("toggle", () => { if (chooser.open) load_nodes().then(fill); });
    for (const select of selects) select.addEventListener("change", () => {
      machine[select.dataset.choice] = select.value;
      find_details().then(() => announce(false));
    });
    addEventListener("keydown", event => { if (event.key === "Escape" && chooser.open) { chooser.open = false; chooser.firstElementChild.focus(); } });
    addEventListener("click", event => { if (!chooser.contains(event.target)) chooser.open = false; });
    const kept = (() => { try { return JSON.parse(recall("wheelyard-machine")); } catch { return null; } })();
    if (kept?.name === machine.node && kept.index) machine.details = kept;
    const of_tab = asked.has("node") || asked.has("my_python") || of_this_tab("wheelyard-node") !== null;
    // What was kept is shown at once, and asked for again after ten minutes, where a site of its index answers.
    const ask_again = async () => {
      const {details} = machine;
      if (!details || Date.now() - details.seen < 600000 || !(await load_nodes()).some(node => node.index === details.index)) return;
      await find_details();
      announce(of_tab);
    };
    // After the scripts of the page, which listen.
    addEventListener("DOMContentLoaded", async () => {
      if (machine.node && !machine.details) await find_details();
      if (machine.node || machine.python || document.getElementById("no-node")) announce(of_tab);
      ask_again();
    });
  }
  // Whether a list of Pythons has a wheel for this one: "3.12", "3.9 and newer", "any 3".
  const minor = text => Number(/^3\.(\d+)/.exec(text)?.[1] ?? -1);
  const takes = (list, python) => list.some(text => text === python || text === "any 3" || (text.endsWith("and newer") && minor(text) <= minor(python)));
  // Whether a project has wheels for the machine, as far as the facets of its versions say; undefined: nothing is chosen or known.
  const my_pythons = () => machine.python ? [machine.python] : machine.details?.pythons ?? [];
  const suits = (pythons, machines, gpus) => {
    const {details} = machine, mine = my_pythons();
    if (mine.length && pythons.length && !mine.some(python => takes(pythons, python))) return false;
    if (!details) return machine.python && !machine.node ? true : undefined;
    if (machines.length && !machines.includes("any") && !machines.includes(details.machine)) return details.machine ? false : undefined;
    return gpus.length === 0 || gpus.some(gpu => details.gpus.includes(gpu)) ? true : undefined;
  };
  const suit_word = suited => suited === undefined && !machine.details ? "here" : (suited === undefined ? "not known " : suited ? "" : "not ") + "for my machine";
  // The mark of a card in a list of projects. `version`: for the machine, if that is not the newest.
  const mark_card = (card, suited, version) => {
    card.querySelector(".mine")?.remove();
    if (suited === undefined && !machine.details) return;
    const mark = element("span", (suited === false || !version ? "" : version + " ") + suit_word(suited), "mine state " + (suited ? "have" : "excluded"));
    card.querySelector("h3").append(mark);
  };
  const mark_cards = () => {
    for (const card of document.querySelectorAll(".card[data-pythons]"))
      mark_card(card, suits(...["pythons", "machines", "gpus"].map(name => card.dataset[name].split(",").filter(Boolean))));
    for (const part of document.querySelectorAll("li[data-node]")) part.classList.toggle("chosen", part.dataset.node === machine.node);
  };
  addEventListener("machine", mark_cards);
  // A slash leads to the search: of this page, or of its index.
  addEventListener("keydown", event => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const box = document.querySelector("#search [name=q]"), root = document.body.dataset.root;
    if (!box && !document.querySelector('nav a[href$="project/"], nav a[href="../"]')) return;
    event.preventDefault();
    if (box) box.focus();
    else location.assign(root + "project/");
  });
  // Only a server has the page for operators.
  const operators = document.getElementById("operators");
  if (operators) fetch(operators.href, {method: "HEAD"}).then(reply => { operators.hidden = !reply.ok; }).catch(() => {});
  return {element, time, label_cells, say, copy_button, token, call, get, private_of, opened, close_private, lead_to_login, offer_login, has_login, show_account, is_same_wheel, fold, when_seen, load, acts, recall, remember, address, machine, my_pythons, takes, suits, suit_word, mark_card, bar, anchor, colours, state, all, states_of, report_of, all_indexes, reveal, follow};
})();
