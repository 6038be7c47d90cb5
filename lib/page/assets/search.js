// The search of an index: one compact file, loaded with the first key; filters and results as the reader types.
"use strict";
(() => {
  const form = document.getElementById("search");
  if (!form) return;
  const list = document.getElementById("results");
  const count = document.getElementById("count");
  const box = form.elements.namedItem("q");
  const max_shown = 100, max_near = 5;
  const facets = [["python", 4], ["machine", 5], ["gpu", 6], ["uses", 7]];
  let rows = null, loading = null;
  form.hidden = false;

  const load = () => loading ??= fetch("search.json").then(reply => {
    if (!reply.ok) throw new Error(reply.status);
    return reply.json();
  }).then(data => {
    rows = data.projects;
    for (const [name, at] of facets) {
      const values = [...new Set(rows.flatMap(row => row[at]))];
      values.sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
      const select = form.elements.namedItem(name);
      for (const value of values) select.append(new Option(value, value));
      select.parentElement.hidden = values.length === 0;
    }
    for (const row of rows) row.text = (row[0] + " " + row[2] + " " + row[3]).toLowerCase();
  });

  // A name that begins with the words comes before one that has them, and that before a summary.
  const rank = (row, words) => {
    let score = 0;
    for (const word of words) {
      if (!row.text.includes(word)) return -1;
      score += row[0] === word ? 8 : row[0].startsWith(word) ? 4 : row[0].includes(word) ? 2 : 1;
    }
    return score;
  };

  // Levenshtein's distance; more than `limit`: no near name.
  const distance = (a, b, limit) => {
    if (Math.abs(a.length - b.length) > limit) return limit + 1;
    let above = Array.from({length: b.length + 1}, (_, at) => at);
    for (let i = 1; i <= a.length; ++i) {
      const row = [i];
      for (let j = 1; j <= b.length; ++j)
        row.push(Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
      if (Math.min(...row) > limit) return limit + 1;
      above = row;
    }
    return above[b.length];
  };
  const names_near = word => {
    const limit = word.length < 5 ? 1 : 2;
    return rows.map(row => [distance(word, row[0], limit), row]).filter(([far]) => far <= limit)
      .sort((a, b) => a[0] - b[0]).slice(0, max_near).map(([, row]) => row);
  };

  const element = yard.element;

  const show = found => {
    list.replaceChildren(...found.slice(0, max_shown).map(row => {
      const item = element("li", "", "card"), title = element("h3"), link = element("a", row[0]);
      link.href = encodeURIComponent(row[0]) + "/";
      title.append(link, " ", element("small", row[1], "quiet"));
      item.append(title, element("p", row[2], "quiet"));
      const tags = element("ul", "", "tags");
      for (const [, at] of facets) for (const value of row[at]) tags.append(element("li", value));
      if (tags.childElementCount) item.append(tags);
      return item;
    }));
    count.textContent = found.length + (found.length === 1 ? " project" : " projects") +
      (found.length > max_shown ? ", the first " + max_shown + " are shown" : "");
  };

  const update = () => load().then(() => {
    const words = box.value.toLowerCase().replace(/[_.]/g, "-").split(/\s+/).filter(Boolean);
    let found = rows.map(row => [rank(row, words), row]).filter(([score]) => score >= 0);
    for (const [name, at] of facets) {
      const wanted = form.elements.namedItem(name).value;
      if (wanted) found = found.filter(([, row]) => row[at].includes(wanted));
    }
    found.sort((a, b) => b[0] - a[0] || (a[1][0] < b[1][0] ? -1 : 1));
    const near = found.length === 0 && words.length === 1 ? names_near(words[0]) : [];
    show(near.length > 0 ? near : found.map(([, row]) => row));
    if (found.length > 0) return;
    count.textContent = near.length > 0 ? "No project matches. Names like it are below." : "No project matches.";
    if (words.length !== 1) return;
    const ask = element("a", "Ask for " + words[0]);
    ask.href = "../builds/?package=" + encodeURIComponent(words[0]);
    count.append(" ", ask);
  }).catch(() => { count.textContent = "The list cannot be loaded; all projects are below."; });

  form.addEventListener("input", update);
  form.addEventListener("submit", event => { event.preventDefault(); update(); });
  box.addEventListener("focus", load, {once: true});
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) { box.value = asked; update(); }
})();
