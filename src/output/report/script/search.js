// Switches to another snapshot in the same view. The address contains the snapshot, so back, reload and a copied link keep it.
const snapshotBox = () => {
  const select = make("select"), shown = +(chosenSnapshot.snapshot ?? /--snapshot (\d+)/.exec(report.reading)?.[1] ?? report.snapshots.at(-1));
  select.setAttribute("aria-label", "Snapshot");
  select.append(...report.snapshots.map((number) => Object.assign(make("option", "", "Snapshot " + number), { value: number, selected: number === shown })));
  select.onchange = () => { location.href = "?snapshot=" + select.value + location.hash; };
  return select;
};
// The search field, which `/` focuses. Suggests names, and accepts addresses, patterns and quoted texts.
const searchBox = () => {
  const field = make("input"), list = make("datalist"), form = make("form", "find", field, list);
  Object.assign(field, { type: "search", placeholder: isHeap ? (report.live ? 'Type, "text", 0x…  ( / )' : "Type, 0x…  ( / )") : "Function  ( / )", size: 24, autocomplete: "off" });
  field.setAttribute("aria-label", "Search");
  list.id = "suggestions";
  field.setAttribute("list", list.id);
  const wanted = isHeap ? ["Types", "Types that changed", "Classes over time"] : ["Functions", "Functions that changed"];
  const names = [...new Set(report.tables.filter((table) => wanted.includes(table.title)).flatMap((table) => table.columns[0].values.map(name)))];
  const find = (text, read = (of) => of) => names.find((of) => read(of).includes(read(text)));
  // The server's patterns distinguish upper and lower case, and the filters of tables do not.
  const isInOtherCase = (text) => !find(text) && find(text, (of) => of.toLowerCase());
  field.oninput = () => {
    const term = field.value.toLowerCase();
    const found = term.length > 1 ? names.filter((text) => text.toLowerCase().includes(term)).slice(0, 12) : [];
    list.replaceChildren(...found.map((text) => Object.assign(make("option"), { value: text })));
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    const exact = names.includes(text), it = meant(text);
    if (!isHeap) {
      const part = find(text, (of) => of.toLowerCase());
      location.hash = exact ? functionAddress(text) : part ? tableAddress(report.tables[0].title, { filter: text }) : addressOf("", "", { search: text });
    } else location.hash = exact ? typeAddress(text) : it.object ? objectAddress(it.object) : report.live && !isInOtherCase(text) ? addressOf("objects", "", it) : tableAddress(report.tables[0].title, { filter: text.replace(/[*?]/g, "") });
    field.blur();
  };
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(input|textarea|select)$/i.test(event.target.localName)) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  return form;
};
