// Formats numbers and names for people.
const count = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const size = (bytes) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  while (bytes >= (at ? 1023.95 : 1024) && at < 5) { bytes /= 1024; at++; }
  return (at ? bytes.toFixed(1) : count(bytes)) + " " + units[at];
};
const time = (us) => (us >= 1e6 ? (us / 1e6).toFixed(1) + " s" : us >= 1e3 ? (us / 1e3).toFixed(1) + " ms" : us >= 1 || !us ? count(us) + " µs" : count(us * 1e3) + " ns");
// Formats the time between two dumps, up to days.
const between = (ms) => { const [part, unit] = ms >= 1.728e8 ? [8.64e7, " days"] : ms >= 7.2e6 ? [3.6e6, " h"] : ms >= 6e5 ? [6e4, " min"] : [1e3, " s"]; return (ms / part).toFixed(1) + unit; };
const TIMES = { nanoseconds: 1e-3, ns: 1e-3, microseconds: 1, us: 1, milliseconds: 1e3, ms: 1e3, seconds: 1e6, s: 1e6 };
const SIZES = { bytes: 1, kilobytes: 2 ** 10, kB: 2 ** 10, megabytes: 2 ** 20, MB: 2 ** 20 };
const plainAmount = (number, unit) => {
  if (Object.hasOwn(TIMES, unit)) return time(number * TIMES[unit]);
  if (Object.hasOwn(SIZES, unit)) return size(number * SIZES[unit]);
  if (unit === "millionths") return String(number / 1e6);
  return count(number) + (unit === "number" || unit === "count" ? "" : " " + unit);
};
const amount = (number, unit) => (number < 0 ? "-" : "") + plainAmount(Math.abs(number), unit);
const signed = (number, unit) => (number > 0 ? "+" : "") + amount(number, unit);
const percent = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(1) + " %";
// Escapes characters that are invisible or change the direction of text.
const plain = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
const shortened = (text, most = 2000) => (text.length > most ? text.slice(0, most) + "… (" + count(text.length) + " characters)" : text);
// A name without package, path and file.
const short = (text) => text.replace(/ \([^()]*\)$/, "").replace(/^[^\s(]*\//, "").replace(/^(class )?([a-z_]\w*\.)+(?=[A-Z])/, "$1");
// `Threads by stack` in an address.
const slug = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
// FNV-1a, so that a name has the same colour in every picture.
const hashed = (text) => {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return hash >>> 0;
};
// The package of a function: the installed package or the folder of its file, or its name without the last part, types and parameters.
const packageOf = (name, file) => {
  const installed = ["site-packages/", "dist-packages/", "node_modules/"].find((folder) => file.includes(folder));
  if (installed) return file.slice(file.lastIndexOf(installed) + installed.length).split("/")[0];
  if (file) return file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : file;
  let plain = "", depth = 0;
  for (const c of name) {
    if ("(<[".includes(c)) depth++;
    else if (")>]".includes(c)) depth = Math.max(0, depth - 1);
    else if (!depth) plain += c;
  }
  const word = plain.split(" ").find((part) => part.includes("::")) ?? plain;
  return word.slice(0, Math.max(0, word.lastIndexOf("."), word.lastIndexOf(":"))).replace(/[.:]+$/, "") || name;
};
// The name and the file of a function in a picture: `read (io.py)`.
const partsOf = (text) => { const [, name, file] = /^(.*?)(?: \(([^()]*)\))?$/s.exec(text); return [name, file || ""]; };
// A row of cells in a file of comma-separated values.
const csvRow = (cells) => cells.map((cell) => { const text = String(cell ?? ""); return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text; }).join(",") + "\r\n";
// `retained_bytes` as a heading.
const HEADINGS = { id: "Object", shallow_bytes: "Shallow", retained_bytes: "Retained", external_bytes: "External", bytes: "Bytes", self: "Self", total: "Total" };
const heading = (key) => HEADINGS[key] || (key.charAt(0).toUpperCase() + key.slice(1)).replace(/_bytes$/, "").replace(/[_.]/g, " ");
