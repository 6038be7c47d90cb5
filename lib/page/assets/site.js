// The page of a site: its table for the chosen machine, sorted and filtered, and how long its builds take.
"use strict";
(() => {
  const {element} = yard, form = document.getElementById("search"), table = document.getElementById("wheels");
  const {site, index, pythons} = form.dataset, field = name => form.elements.namedItem(name);
  const names = ["q", "type", "python", "accelerator", "mpi"], asked = new URLSearchParams(location.search);
  const rows = table ? [...table.tBodies[0].rows].map(row => {
    const [project, version, python, accelerator, mpi, type, since] = [...row.cells].map(cell => cell.textContent.trim());
    return {row, project, version, pythons: python.split(", "), python, accelerator, mpi, types: type.replace(/ not proven$/, "").split(", "), type, since: row.querySelector("time")?.dateTime ?? since};
  }) : [];
  const by_number = new Intl.Collator("en", {numeric: true}).compare;
  const fill = (name, values) => field(name).append(...[...new Set(values)].filter(Boolean).sort(by_number).map(value => new Option(value)));
  fill("type", rows.flatMap(row => row.types));
  fill("python", [...rows.flatMap(row => row.pythons), ...pythons.split(",")].filter(text => /^3\.\d+t?$/.test(text)));
  fill("accelerator", rows.map(row => row.accelerator));
  const choose = (name, value) => { if ([...field(name).options].some(option => option.value === value)) field(name).value = value; };
  const suits = row => row.project.includes(field("q").value.trim().toLowerCase().replace(/[_.]+/g, "-")) &&
    (!field("type").value || row.types.includes(field("type").value)) && (!field("python").value || yard.takes(row.pythons, field("python").value)) &&
    (!field("accelerator").value || row.accelerator === field("accelerator").value) && (!field("mpi").value || (field("mpi").value === "with") === (row.mpi !== ""));
  const show = () => {
    let shown = 0;
    for (const row of rows) shown += (row.row.hidden = !suits(row)) ? 0 : 1;
    document.getElementById("count").textContent = shown + " of " + rows.length + " lines";
  };
  // A click on a head sorts by it, another the other way round; the order is in the address.
  const keys = ["project", "version", "python", "accelerator", "mpi", "type", "since"];
  const sort = order => {
    const is_down = order.startsWith("-"), key = order.replace("-", "");
    if (!table || !keys.includes(key)) return;
    [...table.tHead.rows[0].cells].forEach((head, at) => keys[at] === key ? head.setAttribute("aria-sort", is_down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    rows.sort((a, b) => (is_down ? -1 : 1) * by_number(a[key], b[key]) || by_number(a.project, b.project));
    table.tBodies[0].append(...rows.map(row => row.row));
  };
  if (table) yard.label_cells(table);
  [...(table?.tHead.rows[0].cells ?? [])].forEach((head, at) => {
    const button = element("button", head.textContent, "plain");
    button.type = "button";
    button.addEventListener("click", () => {
      const order = (head.getAttribute("aria-sort") === "ascending" ? "-" : "") + keys[at];
      sort(order);
      yard.address({sort: order});
    });
    head.replaceChildren(button);
  });
  form.hidden = !table;
  for (const name of names) if (asked.get(name)) name === "q" ? field(name).value = asked.get(name) : choose(name, asked.get(name));
  if (asked.get("sort")) sort(asked.get("sort"));
  show();
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", () => {
    yard.address(Object.fromEntries(names.map(name => [name, field(name).value.trim()])));
    show();
  });
  // The machine of the reader, if it is of this site, decides what the address does not.
  addEventListener("machine", () => {
    const {node, python, details} = yard.machine;
    if (details?.site === site && !asked.get("type")) choose("type", node.slice(site.length + 2));
    if (!asked.get("python")) choose("python", python);
    show();
  });

  // From the builds that the registry keeps: a server has them, a copy of the pages does not.
  const duration = seconds => seconds < 60 ? seconds + " s" : seconds < 3600 ? Math.round(seconds / 60) + " min" :
    Math.floor(seconds / 3600) + " h " + String(Math.floor(seconds / 60) % 60).padStart(2, "0") + " min";
  const memory = mib => mib < 1024 ? mib + " MiB" : Number((mib / 1024).toFixed(mib < 10240 ? 1 : 0)) + " GiB";
  // Oldest first, from zero to the largest.
  const line = (values, label) => {
    const width = 120, height = 24, top = Math.max(...values, 1), points = values.length > 1 ? values : [values[0], values[0]];
    const image = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [name, value] of [["class", "course"], ["viewBox", `-2 -2 ${width + 4} ${height + 4}`], ["role", "img"], ["aria-label", label]]) image.setAttribute(name, value);
    path.setAttribute("d", "M" + points.map((value, at) => `${Math.round(at * width / (points.length - 1))} ${height - Math.round(value * height / top)}`).join("L"));
    image.append(path);
    return image;
  };
  const show_courses = builds => {
    const by_package = new Map();
    for (const build of builds.reverse()) {
      if (build.site !== site || build.state !== "done" || build.purpose || !build.began || !build.ended) continue;
      if (!by_package.has(build.package)) by_package.set(build.package, []);
      by_package.get(build.package).push({seconds: Math.max(0, Math.round((Date.parse(build.ended) - Date.parse(build.began)) / 1000)), mib: build.memory_peak_mib ?? 0});
    }
    const section = document.getElementById("courses");
    section.hidden = by_package.size === 0;
    section.querySelector("tbody").append(...[...by_package].sort(([a], [b]) => by_number(a, b)).map(([name, list]) => {
      const row = element("tr"), head = element("th"), link = element("a", name), seconds = list.map(one => one.seconds), used = list.map(one => one.mib).filter(Boolean);
      link.href = "../../project/" + encodeURIComponent(name) + "/";
      head.scope = "row";
      head.append(link);
      row.append(head, element("td", String(list.length)), element("td", duration(seconds.at(-1))), element("td"), element("td", used.length ? memory(Math.max(...used)) : "–"), element("td"));
      row.cells[3].append(line(seconds, "Durations of " + name + ": " + seconds.map(duration).join(", ")));
      if (used.length) row.cells[5].append(line(used, "Memory of " + name + ": " + used.map(memory).join(", ")));
      return row;
    }));
    yard.label_cells(section.querySelector("table"));
  };
  fetch("../../../api/v1/indexes/" + encodeURIComponent(index) + "/builds", {headers: {Accept: "application/json", ...(yard.token() && {Authorization: "Bearer " + yard.token()})}}).then(reply => reply.ok ? reply.json() : null).then(data => {
    if (data) show_courses(data.builds);
  }).catch(() => {});
})();
