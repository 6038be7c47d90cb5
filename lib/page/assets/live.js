// The page of builds, and what the sites know of a missing project, between two renderings.
"use strict";
(() => {
  const {element, bar, anchor, state, all, reveal} = yard;
  const root = document.body.dataset.root;
  const builds = document.getElementById("builds");
  const known = document.getElementById("known");  // of a project without wheels

  const name = item => item.package + " " + item.version;
  const place = item => (item.site ? item.site + " · " : "") + "Python " + item.python + (item.accelerator ? ", " + item.accelerator : "");
  const memory = mib => mib < 1024 ? mib + " MiB" : Number((mib / 1024).toFixed(mib < 10240 ? 1 : 0)) + " GiB";
  // A site is late 10 minutes after its next tick was due, or after a day without a date for it.
  const is_late = site => Date.now() > (site.next_tick ? Date.parse(site.next_tick) + 6e5 : Date.parse(site.time) + 864e5);
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
  const is_built_since = item => all(last_data, "cells").some(cell => cell.state === "have" && yard.is_same_wheel(cell, item));
  const failed = item => {
    let remedy;
    if (item.remedy) {
      remedy = element("p");
      yard.say(remedy, " " + item.remedy, true);
      remedy.prepend(element("strong", "What to do:"));
    }
    const is_solved = is_built_since(item);
    return card(item.attempt, item, is_solved ? "built since" : "failed", is_solved ? "have" : "failed", [item.phase && "in phase " + item.phase,
      item.began && item.ended && "after " + duration(Math.max(0, Math.floor((Date.parse(item.ended) - Date.parse(item.began)) / 1000))), item.ended && yard.time(item.ended)],
      [item.cause && element("pre", item.cause), remedy, log_of(item)]);
  };
  // For the page of one build.
  Object.assign(yard, {dotted, duration, memory, phases, picture, place});
  if (!builds && !known) return;

  // For the chosen machine: its site's builds for its accelerator or for all, unless the reader or the address wants others.
  let last_data = null, wants_all = new URLSearchParams(location.search).has("all");
  const of_machine = data => {
    const {node, details} = yard.machine, here = data.sites.find(site => site.site === details?.site);
    document.getElementById("builds-of")?.remove();
    if (!here) return data;
    const suits = item => !item.accelerator || item.accelerator === details.accelerator;
    const lists = Object.fromEntries(["cells", "attempts", "failures"].map(list => [list, (here[list] ?? []).filter(suits)]));
    const is_asked_for = [...lists.attempts.map(item => item.id), ...lists.failures.map(item => item.attempt)].some(id => "#" + anchor(id) === location.hash);
    if (location.hash.startsWith("#build-") && !is_asked_for) wants_all = true;
    const note = element("p", wants_all ? "Builds of all machines. " : "Only builds for " + node + ". ", "quiet"), button = element("button", wants_all ? "Only for my machine" : "Show all");
    note.id = "builds-of";
    button.type = "button";
    button.addEventListener("click", () => {
      history.replaceState(null, "", location.pathname + location.search);
      wants_all = !wants_all;
      yard.address({all: wants_all ? "1" : ""});
      show_builds(last_data);
      document.querySelector("#builds-of button").focus();
    });
    note.append(button);
    builds.before(note);
    return wants_all ? data : {...data, requests: (data.requests ?? []).filter(suits), sites: [{...here, ...lists}]};
  };
  addEventListener("machine", () => { if (builds && last_data) show_builds(last_data); });

  // "All well.", or what is broken, each with the way to its list.
  const show_well = (failures, sites) => {
    const queues = sites.flatMap(site => site.held_queues ?? []).length, late = sites.filter(is_late).length, part = document.getElementById("well");
    const broken = [[failures.length, "build failed", "builds failed", "#failed"], [late, "site is late", "sites are late", "#reports"],
                    [queues, "queue takes no jobs", "queues take no jobs", "#reports"]].filter(([count]) => count > 0);
    part?.replaceChildren(...(broken.length ? broken.flatMap(([count, one, several, place], at) => {
      const link = element("a", count + " " + (count === 1 ? one : several));
      link.href = place;
      return [at ? ", " : "", link];
    }) : [element("strong", "All well")]), ".");
  };
  // The builds that the registry keeps, how long they took and why they failed: a server has them, a copy of the pages does not.
  const show_history = () => {
    const max_shown = 50, part = document.getElementById("history"), {index} = document.getElementById("request").dataset;
    yard.get("../../api/v1/indexes/" + encodeURIComponent(index) + "/builds").then(({builds}) => {
      const over = builds.filter(build => build.ended), shown = over.slice(0, max_shown);
      part.querySelector("p").textContent = over.length > max_shown ? "The newest " + max_shown + " of the last " + over.length + "." : "";
      part.querySelector("ul").append(...shown.map(build => {
        const title = element("strong"), link = element("a", name(build)), is_good = build.state === "done", word = element("span");
        link.href = "build.html?" + new URLSearchParams({site: build.site, id: build.id});
        title.append(link);
        word.append(element("span", is_good ? "built" : build.state, "state " + (is_good ? "have" : build.state === "failed" ? "failed" : "unknown")), ...(build.cause ? [element("span", build.cause, "why")] : []));
        return row(title, dotted("span", place(build), build.purpose, build.began && "took " + duration(Math.max(0, Math.floor((Date.parse(build.ended) - Date.parse(build.began)) / 1000))),
          yard.time(build.ended)), word);
      }));
      part.hidden = shown.length === 0;
    }).catch(() => {});
  };
  if (builds) yard.when_seen(document.getElementById("agents"), show_history);

  let is_first = true;
  const show_builds = all_data => {
    last_data = all_data;
    const data = of_machine(all_data);
    const attempts = all(data, "attempts"), failures = all(data, "failures");
    const requests = data.requests ?? [], ended = requests.filter(request => request.ended);
    const waiting = [...requests.filter(request => !request.ended), ...all(data, "cells").filter(cell => cell.state === "wanted" || cell.state === "held")];
    show_well(failures.filter(item => !is_built_since(item)), data.sites);
    fill("running", attempts, attempts.map(running), "Nothing is being built.");
    fill("failures", failures, failures.map(failed), "No build has failed.");
    const line = cell => {
      const states = element("span");
      states.append(...state(cell));
      const title = element("strong", cell.asked ? "" : name(cell));
      if (cell.asked) {  // a request, which has a page
        const link = element("a", name(cell));
        link.href = root + "builds/request.html?" + new URLSearchParams({id: cell.id});
        title.append(link);
      }
      return row(title, dotted("span", place(cell), cell.purpose, cell.ended ? ["ended ", yard.time(cell.ended)] : cell.asked ? ["asked ", yard.time(cell.asked)] : cell.since && ["queued ", yard.time(cell.since)]), states);
    };
    fill("queue", waiting, waiting.map(line), "Nothing waits.");
    fill("ended", ended, ended.map(line), "None in the last two weeks.");
    const agents = data.sites.map(site => ({...site, late: is_late(site), due: Date.parse(site.next_tick) < Date.now()}));
    fill("agents", agents.map(site => [site.site, site.time, site.late, site.due]), agents.map(site => {
      const life = element("span", "last report ");
      life.append(yard.time(site.time), " ", element("span", site.late ? "late" : site.due ? "due" : "as expected", "state " + (site.late ? "failed" : site.due ? "wanted" : "have")));
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

  const show_known = data => {
    const attempts = new Map(all(data, "attempts").map(item => [item.site + " " + item.id, item]));
    const cells = yard.states_of(data, known.dataset.project);
    known.parentElement.hidden = cells.length === 0;
    fill("known", cells, cells.map(cell => {
      const states = element("span");
      states.append(...state(cell, cell.state === "active" && attempts.get(cell.site + " " + cell.attempt)));
      return row(element("strong", name(cell)), element("span", place(cell), "quiet"), states);
    }), "");
  };

  yard.follow(data => {
    if (builds) show_builds(data);
    if (known) show_known(data);
  });
})();
