// Two wheels of a project side by side: what their sections and their METADATA say. Which ones is in the address.
"use strict";
(() => {
  const {element} = yard, compare = document.getElementById("compare"), wheels = [...document.querySelectorAll("details[id^='wheel-']")];
  const name_of = wheel => wheel.querySelector("summary .mono").textContent;
  const facts_of = wheel => new Map([...wheel.querySelectorAll(":scope > dl:first-of-type > dt")].map(term => {
    const said = term.nextElementSibling, values = [...said.querySelectorAll(".mono")].map(part => part.textContent);
    return [term.textContent, values.length ? values : [said.textContent]];
  }));
  const requirements_of = async wheel => {
    const link = wheel.querySelector("a[href$='.metadata']"), reply = link && await fetch(link.href);
    if (!reply?.ok) return null;
    const head = (await reply.text()).split(/\r?\n\r?\n/, 1)[0];
    return [...head.matchAll(/^Requires-Dist:[ \t]*(.+?)\r?$/gim)]
      .map(found => found[1].replace(/^[\w.-]+/, name => name.toLowerCase().replace(/[-_.]+/g, "-")));  // another spelling is no difference
  };
  // The newest one of another version, for the same Python and machine if there is one.
  const before = wheel => {
    const parts = name_of(wheel).split("-"), tags = parts.slice(-3).join("-");
    const older = wheels.slice(wheels.indexOf(wheel) + 1).filter(other => name_of(other).split("-")[1] !== parts[1]);
    return older.find(other => name_of(other).endsWith("-" + tags)) ?? older.find(other => name_of(other).split("-").at(-3) === parts.at(-3)) ??
      older[0] ?? wheels.find(other => other !== wheel);
  };
  const form = compare.querySelector("form"), field = name => form.elements.namedItem(name), body = compare.querySelector("tbody");
  const asked = new URLSearchParams(location.search), status = compare.querySelector("[role=status]");
  const wheel_of = name => wheels.find(wheel => wheel.id === field(name).value);
  for (const name of ["old", "new"]) field(name).append(...wheels.map(wheel => new Option(name_of(wheel), wheel.id)));
  const choose = (name, wheel) => { field(name).value = wheel.id; };
  const by_id = id => wheels.find(wheel => wheel.id === id);
  choose("new", by_id(asked.get("new")) ?? wheels[0]);
  choose("old", by_id(asked.get("old")) ?? before(wheel_of("new")));
  let questions = 0;
  const show = async () => {
    const question = ++questions, pair = [wheel_of("old"), wheel_of("new")], facts = pair.map(facts_of);
    const lists = await Promise.all(pair.map(requirements_of)).catch(() => [null, null]);
    if (question !== questions) return;
    if (lists.every(Boolean)) lists.forEach((list, at) => facts[at].set("Requirements", list));
    const names = [...new Set(facts.flatMap(one => [...one.keys()]))].filter(name => name !== "SHA-256" && name !== "Uploaded");
    const rows = names.flatMap(name => {
      const [old, now] = facts.map(one => one.get(name) ?? []), head = element("th", name), row = element("tr");
      const only = [old.filter(value => !now.includes(value)), now.filter(value => !old.includes(value))];
      if (only.every(list => list.length === 0)) return [];
      head.scope = "row";
      row.append(head, ...only.map(list => element("td", list.join(", ") || "–", "mono")));
      return [row];
    });
    body.replaceChildren(...rows);
    compare.querySelector(".scroll").hidden = rows.length === 0;
    status.textContent = (rows.length ? "What is not listed is the same." : "Nothing that is known of them differs.") +
      (lists.every(Boolean) ? "" : " Their requirements could not be read.");
  };
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", () => {
    yard.address({old: field("old").value, new: field("new").value});
    show();
  });
  show();
})();
