// The files of an index's search: trees over the letters of keys (docs/reference/published-tree.md). `folder`: from the page to them.
"use strict";
yard.open_search = folder => {
  const max_walked = 40;  // files that one question loads of a root
  const loaded = new Map();
  const node = name => {
    if (!loaded.has(name)) loaded.set(name, yard.get(folder + "search." + name + ".json"));
    return loaded.get(name);
  };
  // The bytes of a key as they are in the names of files.
  const steps_of = text => [...new TextEncoder().encode(text)].map(byte => {
    const letter = String.fromCharCode(byte);
    return /[A-Za-z0-9.=-]/.test(letter) ? letter : "_" + byte.toString(16).padStart(2, "0");
  });
  const code_of = step => step.length > 1 ? parseInt(step.slice(1), 16) : step.charCodeAt(0);
  // The node below which all keys of a root lie that begin so; undefined: there are none.
  const lead = async (root, begin) => {
    let name = steps_of(root).join(""), part = await node(name);
    for (const step of steps_of(begin)) {
      if (part.rows) break;
      if (!part.next[step]) return undefined;
      part = await node(name += step);
    }
    return {name, part};
  };
  // The rows of a root whose keys begin so, each given to `take` until that returns false. False: there may be more.
  const walk = async (root, begin, max_rows, take) => {
    let left = max_walked;
    const visit = async (name, part) => {
      for (const [key, value] of Object.entries(part.rows ?? {})) if (key.startsWith(begin) && !take(key, value)) return false;
      const steps = Object.keys(part.next ?? {}).sort((a, b) => code_of(a) - code_of(b));
      let ahead = 0;  // rows of what is asked for at once
      for (const step of steps) if (ahead < max_rows) ahead += part.next[step], node(name + step).catch(() => {});
      for (const step of steps) if (left-- === 0 || !await visit(name + step, await node(name + step))) return false;
      return true;
    };
    const found = await lead(root, begin);
    return !found || visit(found.name, found.part);
  };
  // The row of a key; undefined: there is none.
  const find = async (root, key) => {
    const rows = (await lead(root, key + " "))?.part.rows;
    return rows && Object.hasOwn(rows, key) ? rows[key] : undefined;
  };
  const count = async (root, begin) => {
    const part = (await lead(root, begin))?.part;
    return part?.rows ? Object.keys(part.rows).filter(key => key.startsWith(begin)).length : part?.count ?? 0;
  };
  // How many rows a root has.
  const size = root => node(steps_of(root).join("")).then(part => part.count);
  return {walk, find, count, size};
};
