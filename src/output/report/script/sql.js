// SQL over the tables of the dump, if the server has it.
const SQL = "select type, count(*) as objects, sum(shallow_bytes) as shallow_bytes\nfrom objects\ngroup by type\norder by 3 desc\nlimit 20";
const sqlView = async (route) => {
  const title = "SQL", text = route.options.q || "", statement = text || (isHeap ? SQL : "select * from functions limit 20");
  // `query` has no options that choose a part of a profile: the statement does.
  if (!report.live) return { title, content: [elsewhere(["dumptool query", report.quoted + report.reading, shell(text || statement.replace(/\n/g, " "))].join(" "))] };
  const box = make("textarea", "sql mono", statement), result = make("div");
  box.rows = 7;
  box.spellcheck = false;
  box.setAttribute("aria-label", "SQL statement");
  const run = () => { location.hash = addressOf("sql", "", { q: box.value }); };
  box.onkeydown = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); } };
  const tables = folded("Tables and columns", make("p", "dim", "…"));
  const described = ask("query", { sql: "select m.name as name, group_concat(c.name, ', ') as columns from sqlite_master m, pragma_table_info(m.name) c group by m.name" });
  described.then((it) => tables.lastChild.replaceWith(make("dl", "", ...it.rows.flatMap((row) => [make("dt", "mono", row.name), make("dd", "mono dim", row.columns)]))), () => tables.remove());
  if (text) {
    try {
      const it = await ask("query", { sql: text });
      result.append(it.rows.length ? documentTable("Result", it.rows) : make("p", "", "No rows."), ...(it.complete === false ? [make("p", "dim", "There are more rows; `dumptool query` writes all.")] : []));
    } catch (error) {
      result.append(make("p", "warning", error.message));
    }
  }
  tables.open = true;
  return { title, content: [make("div", "beside", make("div", "", box, make("div", "bar", button("Run (Ctrl+Enter)", run, "go")), result), tables)] };
};
