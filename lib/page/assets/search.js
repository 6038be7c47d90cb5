// The search of an index, or of all indexes on the front page; filters and results as the reader types. What an index knows lies
// in small files (indexer/web/search_shards.hpp): of a small index all are loaded, of a large one those of the typed letters.
"use strict";
(() => {
  const form = document.getElementById("search");
  if (!form) return;
  const list = document.getElementById("results");
  const count = document.getElementById("count");
  const box = form.elements.namedItem("q");
  const max_shown = 100, max_near = 5;
  const max_whole = 300;  // projects of an index that is loaded as a whole: its names are one file
  const facets = [["python", 4], ["machine", 5], ["gpu", 6], ["uses", 7]];
  const index_at = 9;  // behind what the file has; the page of an index has no choice of index
  // From this page to the folder of each index's search. The front page shows results only for a question.
  const folders = form.dataset.folders.split(" "), is_front = !document.body.dataset.root;
  const index_of = folder => decodeURIComponent(new URL(folder, location.href).pathname.split("/").at(-3));
  const filters = folders.length > 1 ? [["index", index_at], ...facets] : facets, names = ["q", ...filters.map(([name]) => name)];
  let rows = null, indexes = null, loading = null, shown = [], last_shown = null, questions = 0;
  form.hidden = false;

  const plain = text => yard.fold(text).replace(/[_.]/g, "-");
  const name_of = at => facets.find(([, column]) => column === at)[0];
  const open_index = (folder, top) => {
    const index_name = index_of(folder), files = yard.open_search(folder);
    const walk = (root, begin, take) => files.walk(root, begin, max_shown, (key, value) => {
      const row = [key.slice(key.lastIndexOf(" ") + 1), ...value];
      row.folder = folder;
      row[index_at] = [index_name];
      row.text = plain(row[0] + " " + row[2] + " " + row[3]);
      return take(row);
    });
    // The values of facets that are chosen; the rarest decides what is read.
    const narrowest = async chosen => {
      const roots = chosen.filter(([at]) => at !== index_at).map(([at, value]) => name_of(at) + "=" + value + " ");
      const counts = await Promise.all(roots.map(files.size));
      return roots[counts.indexOf(Math.min(...counts))] ?? "name=";
    };
    // What may match: projects whose names begin with a word, then those that have one elsewhere.
    const search = async (words, chosen, take) => {
      if (chosen.some(([at, value]) => at === index_at ? value !== index_name : !top.values[name_of(at)].includes(value))) return true;
      const root = await narrowest(chosen);
      let is_whole = true;
      for (const word of words.length ? words : [""]) is_whole = await walk(root, word, take) && is_whole;
      const [longest] = words.flatMap(word => word.split(/[^a-z0-9\u0080-\uffff]+/)).sort((a, b) => b.length - a.length);
      if (is_whole && longest?.length > 1) is_whole = await walk("word=", longest, take);
      return is_whole;
    };
    return {top, walk, search};
  };
  const load = () => loading ??= Promise.all(folders.map(folder => yard.get(folder + "search.json").then(top => open_index(folder, top)))).then(async opened => {
    indexes = opened;
    for (const [name, at] of filters) {
      const values = at === index_at ? folders.map(index_of) : [...new Set(opened.flatMap(index => index.top.values[name]))];
      values.sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
      const select = form.elements.namedItem(name);
      for (const value of values) select.append(new Option(value, value));
      select.parentElement.hidden = values.length === 0;
    }
    if (opened.reduce((sum, index) => sum + index.top.count, 0) > max_whole) return;
    const all = [];
    for (const index of opened) await index.walk("name=", "", row => all.push(row));
    rows = all.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  });
  // Rows that may match; of a large index until more match than are shown.
  const candidates = async (words, chosen) => {
    if (rows) return [rows, true];
    const found = new Map();
    let matches = 0, is_whole = true;
    for (const index of indexes) {
      const of_index = await index.search(words, chosen, row => {
        const known = row.folder + row[0];
        if (!found.has(known)) {
          found.set(known, row);
          if (fits(row, words, chosen)) ++matches;
        }
        return matches <= max_shown;
      });
      is_whole = is_whole && of_index;
    }
    return [[...found.values()].sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)), is_whole];
  };

  // Of a requirement ("torch==2.5.1") the name alone.
  const words_of = text => plain(text.replace(/[<>=!~]=?[^\s]*/g, " ")).split(/\s+/).filter(Boolean);
  // How well one of the words names the project, where none has all of them.
  const naming = (row, words) => Math.max(0, ...words.map(word => row[0] === word ? 2 : word.length > 1 && row[0].startsWith(word) ? 1 : 0));

  // A name that begins with the words comes before one that has them, and that before a summary.
  const rank = (row, words) => {
    let score = 0;
    for (const word of words) {
      if (!row.text.includes(word)) return -1;
      score += row[0] === word ? 8 : row[0].startsWith(word) ? 4 : row[0].includes(word) ? 2 : 1;
    }
    return score;
  };
  const fits = (row, words, chosen) => rank(row, words) >= 0 && chosen.every(([at, value]) => row[at].includes(value));

  // Levenshtein's distance; more than `limit`: no near name. Two rows of the table are enough, and are used again.
  const table = [new Uint16Array(260), new Uint16Array(260)];
  const distance = (a, b, limit) => {
    if (Math.abs(a.length - b.length) > limit || b.length > 255) return limit + 1;
    let [above, row] = table;
    for (let j = 0; j <= b.length; ++j) above[j] = j;
    for (let i = 1; i <= a.length; ++i) {
      let best = row[0] = i;
      for (let j = 1; j <= b.length; ++j) {
        row[j] = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1));
        if (row[j] < best) best = row[j];
      }
      if (best > limit) return limit + 1;
      [above, row] = [row, above];
    }
    return above[b.length];
  };
  const names_near = async word => {
    const limit = word.length < 5 ? 1 : 2, known = rows ?? [];
    if (!rows) for (const index of indexes) await index.walk("name=", word.slice(0, Math.max(2, word.length >> 1)), row => known.push(row));
    return known.map(row => [distance(word, row[0], limit), row]).filter(([far]) => far <= limit)
      .sort((a, b) => a[0] - b[0]).slice(0, max_near).map(([, row]) => row);
  };

  const element = yard.element;

  // The newest version for the machine; empty: there is none. `fits` has the Pythons and machines of which it is not `newest`.
  const version_for = (newest, pythons, machines, fits) => {
    const {python, details} = yard.machine;
    const found = pythons.filter(one => !python || yard.takes([one], python)).flatMap(one =>
      machines.filter(of => !details?.machine || of === "any" || of === details.machine).map(of => fits?.[one + " " + of] ?? newest));
    return !found.length || found.includes(newest) ? newest : found.find(Boolean) ?? "";
  };
  const address = row => row.folder + encodeURIComponent(row[0]) + "/";
  const link_to = (text, url) => Object.assign(element("a", text), {href: url});
  const judged = row => {
    const version = version_for(row[1], row[4], row[5], row[10]);
    return [version ? yard.suits(row[4], row[5], row[6]) : false, version !== row[1] && version];
  };
  // A project that several indexes have is one card: of the first that has it for the machine, before others the machine's own,
  // else of the one with the newest version.
  const newer = (one, other) => other[1].localeCompare(one[1], "en", {numeric: true}) > 0 ? other : one;
  const card_of = rows => {
    const own = one => one[index_at][0] === yard.machine.details?.index;
    const row = [...rows.filter(own), ...rows].find(one => judged(one)[0]) ?? rows.reduce(newer);
    const item = element("li", "", "card"), title = element("h3"), tags = element("ul", "", "tags");
    title.append(link_to(row[0], address(row)), " ", element("small", row[1], "quiet"));
    item.append(title, element("p", row[2], "quiet"));
    if (folders.length > 1) {
      const line = element("p");
      for (const one of rows) line.append(line.hasChildNodes() ? " · " : "", link_to(one[index_at][0] + (rows.length > 1 ? " " + one[1] : ""), address(one)));
      item.append(line);
    }
    for (const [, at] of facets) for (const value of new Set(rows.flatMap(one => one[at]))) tags.append(element("li", value));
    if (tags.childElementCount) item.append(tags);
    yard.mark_card(item, ...judged(row));
    return item;
  };
  const show = (found, total, is_whole = true) => {
    shown = total > 0 ? found : [];
    const by_name = new Map();
    for (const row of found) by_name.set(row[0], [...by_name.get(row[0]) ?? [], row]);
    list.replaceChildren(...[...by_name.values()].map(card_of));
    last_shown = [found, total];
    count.textContent = (is_whole ? "" : "At least ") + total + (total === 1 ? " project" : " projects") +
      (total > max_shown ? ", the first " + max_shown + " are shown" : "");
  };

  // What the sites know of names that no wheel has, asked once in the life of the page: an item for each, with the name.
  let reports = null;
  const items_of = async names => {
    if (!names.length) return [];
    reports ??= Promise.all(folders.map(folder => yard.report_of(folder + "../")));
    const all = await reports;
    return names.flatMap(name => folders.flatMap((folder, at) => yard.states_of(all[at], name)
      .filter(cell => cell.state !== "have").map(cell => {
        const item = element("li", "", "card"), title = element("h3"), words = yard.state(cell);
        const page = "builds/" + (cell.page ?? (cell.attempt ? "#" + yard.anchor(cell.attempt) : ""));
        title.append(link_to(cell.package + " " + cell.version, folder + "../" + page), " ", element("span", words[0].textContent, words[0].className || words[0].firstChild.className));
        item.append(title, element("p", [cell.site, "Python " + cell.python, cell.accelerator].filter(Boolean).join(" · "), "quiet"), ...words.slice(1));
        return [name, item];
      }))).slice(0, max_near);
  };
  const known_text = items => items.length ? "No wheel of " + [...new Set(items.map(([name]) => name))].join(" or ") + ", but the sites know of it. " : "";
  // Where to ask for it.
  const show_ends = async (name, question) => {
    const is_own = folder => index_of(folder) === yard.machine.details?.index;
    [...folders].sort((a, b) => is_own(b) - is_own(a)).forEach((folder, at) =>
      count.append(at ? " · " : " ", link_to("Ask for " + name + (is_front ? " in " + index_of(folder) : ""), folder + "../builds/?package=" + encodeURIComponent(name))));
    if (is_front) return;
    const others = await yard.all_indexes();
    const found = await Promise.all(others.map(other => yard.open_search(other + "project/").find("name=", name).catch(() => undefined)));
    if (question !== questions) return;
    const home = document.querySelector("nav .farm").href;
    others.forEach((other, at) => { if (found[at]) count.append(" · ", link_to(name + " in " + decodeURIComponent(other.split("/").at(-2)), other + "project/" + encodeURIComponent(name) + "/")); });
    count.append(" · ", link_to("Look in all indexes", home + "?" + new URLSearchParams({q: box.value})));
  };

  // Before anything is loaded: on the front page the results have the place of what is below them, and the filters theirs, so that
  // nothing moves when they come.
  const make_room = is_asked => {
    if (!is_front) return;
    list.classList.toggle("asked", is_asked);
    if (is_asked && !indexes) for (const [name] of filters) form.elements.namedItem(name).parentElement.hidden = false;
  };
  const is_asked = () => names.some(name => form.elements.namedItem(name).value.trim());
  const update = () => {
    make_room(is_asked());
    return load().then(find).catch(() => {
      make_room(false);
      count.textContent = "The list cannot be loaded; all projects are below.";
    });
  };
  const find = async () => {
    const question = ++questions;
    const words = words_of(box.value);
    const chosen = filters.map(([name, at]) => [at, form.elements.namedItem(name).value]).filter(([, value]) => value);
    if (is_front && words.length + chosen.length === 0) {
      show([], 0);
      count.textContent = "";
      return;
    }
    // One pass, without sorting 100,000 rows: they are in the order of names, so only their scores need an order.
    const [may_match, is_whole] = await candidates(words, chosen);
    if (question !== questions) return;  // a later key has asked
    const by_score = new Map(), names = new Set();
    for (const row of may_match) {
      if (!fits(row, words, chosen)) continue;
      const score = rank(row, words);
      names.add(row[0]);
      if (!by_score.has(score)) by_score.set(score, []);
      if (by_score.get(score).length < max_shown) by_score.get(score).push(row);
    }
    const found = [...by_score.keys()].sort((a, b) => b - a).flatMap(score => by_score.get(score)).slice(0, max_shown);
    const total = names.size;
    const near = total === 0 && words.length === 1 ? await names_near(words[0]) : [];
    if (question !== questions) return;
    const some = total > 0 || words.length < 2 ? [] : may_match.filter(row => naming(row, words) > 0 && chosen.every(([at, value]) => row[at].includes(value)))
      .sort((a, b) => naming(b, words) - naming(a, words)).slice(0, max_near);
    const is_all = words.length + chosen.length === 0;
    // Hits do not hide that a project of exactly this name is asked for. A filter may have left it out.
    const listed = found.length > 0 ? found : some;
    const items = await items_of(listed.length > 0 && chosen.length > 0 ? [] : words.filter(word => word.length > 1 && !listed.some(row => row[0] === word)));
    if (question !== questions) return;
    show(near.length > 0 ? near : some.length > 0 ? some : found, is_all ? indexes.reduce((sum, index) => sum + index.top.count, 0) : total, is_all || is_whole);
    list.prepend(...items.map(([, item]) => item));
    if (found.length > 0) {
      if (items.length) count.append(". " + known_text(items));
      return;
    }
    if (some.length > 0) {
      const left_out = box.value.trim().split(/\s+/).filter(word => naming(some[0], words_of(word)) === 0);
      count.textContent = known_text(items) + "No project has all of these words. Without " + left_out.join(" ") + ":";
      return;
    }
    count.textContent = known_text(items) || (near.length > 0 ? "No project matches. Names like it are below." : "No project matches.");
    if (words.length) await show_ends(words[0], question);
  };

  form.addEventListener("input", update);
  addEventListener("machine", () => { if (last_shown && !(is_front && last_shown[1] === 0)) update(); });
  // Enter leads to the project with exactly this name, or to the only one that matches.
  form.addEventListener("submit", event => {
    event.preventDefault();
    update().then(() => {
      const exact = shown.filter(row => row[0] === box.value.trim().toLowerCase().replace(/[_.]+/g, "-"));
      const one = exact.length === 1 ? exact : shown;
      if (one.length === 1) location.assign(address(one[0]));
    });
  });
  // Not the attribute autofocus, which does nothing for a form that this script shows. The focus alone loads nothing.
  if (document.activeElement === document.body) box.focus({preventScroll: true});
  for (const event of ["keydown", "pointerdown"]) form.addEventListener(event, () => load().catch(() => {}), {once: true});
  // The question is in the address, so that it can be sent and Back finds it again.
  const asked = new URLSearchParams(location.search);
  if (form.dataset.wanted) asked.set("q", form.dataset.wanted);
  if (names.some(name => asked.get(name))) {
    box.value = asked.get("q") ?? "";
    make_room(true);
    load().then(() => {
      for (const [name] of filters) {
        const select = form.elements.namedItem(name);
        if ([...select.options].some(choice => choice.value === asked.get(name))) select.value = asked.get(name);
      }
      update();
    }).catch(update);
  }
  form.addEventListener("input", () => yard.address(Object.fromEntries(names.map(name => [name, form.elements.namedItem(name).value.trim()]))));
})();
