// The box of a project's page where no offer fits the chosen machine: what suits one of another index, why nothing installs, what would.
"use strict";
yard.elsewhere = {
  // What of the grid suits a machine that no site of this index reports, by the labels of the wheels.
  offer: (project, node, verdict_of) => {
    const found = new Map();
    let usual = "", why = "";
    for (const part of document.querySelectorAll("#grid td")) {
      const {version, python} = part.dataset, verdicts = [...part.querySelectorAll("a[href^='#wheel-']:not(.yanked)")].map(verdict_of);
      why ||= verdicts.find(verdict => verdict?.why)?.why ?? "";
      const suits = !/(a|b|rc|dev)\d/.test(version) && verdicts.some(verdict => verdict?.runs !== "no");
      if (suits) usual ||= project + "==" + version;
      if (/^\d/.test(python) && !found.get(python)) found.set(python, suits ? project + "==" + version : "");
    }
    return {node, why, offer: usual && [usual, ...[...found].map(pair => pair.join(":"))].join(" ")};
  },
  // The nearest wheels, or to ask. `by_python`: those of the offer; `on`: "for Python 3.13 on bede, gh".
  explain: (part, offer, offers, by_python, on, where_to_ask) => {
    const others = offers.filter(one => one.node && one.offer && one.node !== offer.node).map(one => one.node + " (" + one.offer.split(" ")[0] + ")");
    const ask = yard.element("a", "Ask for one");
    ask.href = where_to_ask;
    part.replaceChildren((offer.offer ? "No wheel" + on + ": those here are for Python " + by_python.filter(([, wheel]) => wheel).map(([name, wheel]) => name + " (" + wheel + ")").join(", ")
      : "No wheel for " + offer.node + ": " + (offer.why || "none is known to run there")) + ". ",
      offer.offer || !others.length ? "" : "This index has one for " + others.slice(0, 3).join(", ") + ". ", ask);
  },
};
