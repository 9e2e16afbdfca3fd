// Draws numbers over time. The axes reach from the first time to the last, and from zero to the largest number.
const curvePart = (curve) => {
  const wide = 1000, high = 160, [start] = curve.points[0], [end] = curve.points.at(-1);
  const peak = curve.points.reduce((most, point) => (point[1] > most[1] ? point : most));
  const x = (at) => wide * (at - start) / Math.max(1, end - start), y = (number) => high - (high - 6) * number / Math.max(1, peak[1]);
  const labels = curve.labels || [];
  const isTimed = curve.time !== "number";
  const place = (point) => (labels.length ? labels[curve.points.indexOf(point)] : amount(point[0], curve.time));
  const says = (point) => amount(point[1], curve.unit) + (labels.length ? " in " : " at ") + place(point) + (labels.length && isTimed && point[0] > start ? ", after " + between(point[0] - start) : "");
  const line = curve.points.map(([at, number]) => x(at).toFixed(2) + "," + y(number).toFixed(2)).join(" ");
  const chart = svgElement("svg", { class: "curve", viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img" },
    svgElement("polygon", { points: `0,${high} ${line} ${wide},${high}` }), svgElement("polyline", { points: line }));
  const words = `Peak ${says(peak)}, last ${says(curve.points.at(-1))}`, under = make("span", "", words);
  chart.setAttribute("aria-label", words);
  chart.onmousemove = (event) => {
    const box = chart.getBoundingClientRect(), at = wide * (event.clientX - box.left) / box.width;
    under.textContent = says(curve.points.reduce((near, point) => (Math.abs(x(point[0]) - at) < Math.abs(x(near[0]) - at) ? point : near)));
  };
  chart.onmouseleave = () => { under.textContent = words; };
  const each = labels.length && labels.length <= 60 ? [make("ul", "points dim", ...curve.points.map((point) => make("li", "", says(point))))] : [];
  return section(curve.title, make("div", "dim", curve.note), make("div", "axis dim", amount(peak[1], curve.unit)), chart, make("div", "ends dim", place(curve.points[0]), under, place(curve.points.at(-1))), ...each);
};
