"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const tip = document.getElementById("tip");
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888"];
const names = data.variants.map(v => v.name);
const places = [...new Set(data.figures.map(place))];
const ranks = new Set(data.figures.map(f => f.ranks));
const shown = names.map(() => true);
const view = { logarithmic: true, relative: false, across: "size", place: "", bench: "" };

/* Elements. */

function add(parent, tag, attributes = {}, text) {
  const svg = parent.namespaceURI === "http://www.w3.org/2000/svg" || tag === "svg";
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function rows(parent, attributes, head, body) {
  const table = add(add(parent, "div", { class: "wide" }), "table", attributes);
  if (head) head.forEach(function (cell) { add(this, "th", {}, cell); }, add(table, "tr"));
  for (const line of body) {
    const row = add(table, "tr");
    for (const cell of line)
      if (typeof cell === "object") hover(add(row, "td", { class: cell.class }, cell.text), cell.tip);
      else add(row, "td", {}, cell);
  }
}

function hover(element, text) {
  element.addEventListener("mousemove", event => {
    tip.hidden = false;
    tip.textContent = text;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${left}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  });
  element.addEventListener("mouseleave", () => { tip.hidden = true; });
}

/* Numbers. */

function digits(v) {
  const size = Math.abs(v);
  return size >= 99.95 ? v.toFixed(0) : size >= 9.995 ? v.toFixed(1) :
    v.toFixed(size >= 0.0995 || size === 0 ? 2 : size >= 0.00995 ? 3 : 4);
}

const UNITS = {
  "us": [[1e6, "s"], [1e3, "ms"], [1, "us"], [1e-3, "ns"]],
  "MB/s": [[1e3, "GB/s"], [1, "MB/s"]],
  "1/s": [[1e6, "M/s"], [1e3, "k/s"], [1, "/s"]],
};

function value(v, unit) {
  const scales = UNITS[unit] || [[1, unit]];
  const [scale, name] = scales.find(([s]) => Math.abs(v) >= s) || scales[scales.length - 1];
  return `${digits(v / scale)} ${name}`;
}

function bytes(n) {
  for (const [scale, name] of [[2 ** 30, "G"], [2 ** 20, "M"], [2 ** 10, "K"]])
    if (n >= scale && n % scale === 0) return `${n / scale}${name}`;
  return `${n}`;
}

function sizeOf(f) {
  return f.sized ? bytes(f.size) : "";
}

function ratio(c, r) {
  return data.figures[c.figure].unit === "%" ? `${r >= 0 ? "+" : ""}${r.toFixed(1)}` : digits(r);
}

function place(f) {
  return `${f.ranks} rank${f.ranks === 1 ? "" : "s"}${f.label ? `, ${f.label}` : ""}`;
}

/* Whether the user wants to see it. */
function wanted(f) {
  return (!view.place || place(f) === view.place) && f.bench.includes(view.bench);
}

/* What came of it, before anything else. */

/* How many times as fast the first variant is, whichever values are better. */
function speedup(c) {
  return data.figures[c.figure].better === "more" ? c.ratio : 1 / c.ratio;
}

function geometric(factors) {
  return Math.exp(factors.reduce((sum, s) => sum + Math.log(s), 0) / factors.length);
}

function compared(other, where) {
  return data.comparisons.filter(c => c.other === other && place(data.figures[c.figure]) === where);
}

/* The comparisons of each figure in a place with all others that have it; of shares there is no speed. */
function together(where) {
  const all = new Map();
  for (const c of data.comparisons) {
    const f = data.figures[c.figure], s = speedup(c);
    if (place(f) === where && f.unit !== "%" && s > 0 && Number.isFinite(s))
      all.set(c.figure, [...(all.get(c.figure) ?? []), c]);
  }
  return [...all.values()];
}

/* The one figure of each place: the time next to that of the best of the others. A figure whose comparison with one of them
 * has no verdict counts as neither, unless another one is surely ahead. */
function best() {
  const others = names.slice(1).join(", ");
  const lines = [];
  for (const where of places) {
    const all = together(where);
    if (!all.length) continue;
    const is = (of, verdict) => of.some(c => c.verdict === verdict);
    const sure = all.filter(of => !is(of, "unknown")), share = some => some.length
      ? digits(1 / geometric(some.map(of => Math.min(...of.map(speedup))))) : "";
    const launches = all.flat().flatMap(c => [0, c.other].map(v => data.figures[c.figure].variants[v]))
      .filter(Boolean).map(r => r.medians.length);
    lines.push([where, all.length, launches.length ? `${Math.min(...launches)} to ${Math.max(...launches)}` : "",
      all.filter(of => of.every(c => c.verdict === "better")).length, all.filter(of => is(of, "worse")).length,
      all.filter(of => is(of, "unknown") && !is(of, "worse")).length, share(sure), share(all)]);
  }
  rows(page, { class: "best" }, ["where", "figures", "launches of each", `${names[0]} better than all`, "worse than one",
    "neither is known", `time as a share of the best one's of ${others}, geometric mean of those with verdicts`, "of all"], lines);
}

function summary() {
  add(page, "h1", {}, names.join(" · "));
  if (data.comparisons.length) best();
  const machines = data.sessions.map(s => `${s.time.slice(0, 10)}, ${s.machine.processor}, ${s.machine.cpus} processors`);
  add(page, "p", {}, `Measured on ${[...new Set(machines)].join("; ")}. The end of this page says how.`);
  if (!data.comparisons.length) return;
  const lines = [];
  for (const where of places)
    for (let other = 1; other < names.length; other++) {
      const all = compared(other, where);
      if (!all.length) continue;
      const is = verdict => all.filter(c => c.verdict === verdict).length;
      const factors = all.filter(c => data.figures[c.figure].unit !== "%" && c.verdict !== "unknown").map(speedup)
        .filter(s => s > 0 && Number.isFinite(s));
      lines.push([where, names[other], all.length, is("better"), is("no different"), is("worse"),
        is("unknown"), factors.length ? digits(geometric(factors)) : ""]);
    }
  rows(page, { class: "summary" }, ["where", `${names[0]} next to`, "figures", "better", "no different",
    "worse", "unknown", "times as fast, geometric mean of those that are known"], lines);
  const worse = data.comparisons.filter(c => c.verdict === "worse")
    .sort((a, b) => speedup(a) - speedup(b));
  if (!worse.length) return;
  const list = add(page, "details");
  add(list, "summary", {}, `Where ${names[0]} is worse: ${worse.length} figures, the farthest behind first`);
  rows(list, {}, ["benchmark", "size", "where", "next to", names[0], "the other", "ratio"], worse.map(c => {
    const f = data.figures[c.figure], median = v => f.variants[v] ? value(f.variants[v].median, f.unit) : "";
    return [f.bench, sizeOf(f), place(f), names[c.other], median(0), median(c.other),
      { text: ratio(c, c.ratio), class: "worse", tip: told(c) }];
  }));
}

/* What was measured, and where. */

function facts() {
  const told = add(page, "details");
  add(told, "summary", {}, "How this was measured");
  const lines = [];
  for (const s of data.sessions) {
    const m = s.machine;
    lines.push([s.label || "measured", `${s.time} on ${m.host}: ${m.processor}, ${m.cpus} ` +
      `processors, ${(m.memory / 2 ** 30).toFixed(0)} GiB, ${m.kernel}, load ${m.load}` +
      (m.governor ? `, governor ${m.governor}` : "")],
    ["command", s.command.join(" ")],
    ["statistics", `${s.launches[0]} to ${s.launches[1]} launches of each variant, until the ` +
      `${100 * s.confidence} % interval of the median is within ${100 * s.precision} %; seed ${s.seed}`]);
  }
  for (const l of data.libraries) {
    const v = data.variants[l.variant];
    const variables = Object.entries(v.env).map(([k, v]) => `${k}=${v}`);
    const more = Object.entries(l.more).map(([k, v]) => `${k} ${JSON.stringify(v)}`);
    const builds = v.builds[l.label || ""] || [];
    if (builds.length) more.push(`${builds.length > 1 ? "several builds (--rebuilt)" : "build"} ${builds.join(", ")}`);
    lines.push([`${v.name}, ${place(l)}`, [l.library, v.launcher, ...variables, ...more].join("; ")]);
  }
  rows(told, { class: "facts" }, null, lines);
}

/* What must be known to read the results, and what failed. */
function doubts() {
  if (data.notes.length) {
    const notes = add(page, "details");
    if (data.notes.length < 4) notes.open = true;
    add(notes, "summary", {}, `${data.notes.length} notes on how sure the figures are`);
    for (const note of data.notes) add(notes, "p", { class: "note" }, note);
  }
  if (!data.troubles.length) return;
  const troubles = add(page, "details");
  if (data.troubles.length < 9) troubles.open = true;
  add(troubles, "summary", {}, `${data.troubles.length} things failed or were left out`);
  for (const trouble of data.troubles) add(troubles, "p", { class: "trouble" }, trouble);
}

/* Ratios by benchmark and size, coloured where the difference is significant. */

const CLASSES = { "better": "better", "worse": "worse", "unknown": "open" };

function told(c) {
  const f = data.figures[c.figure], [a, b] = [f.variants[0], f.variants[c.other]];
  const range = c.interval ? ` (${ratio(c, c.interval.low)} to ${ratio(c, c.interval.high)})` : "";
  return [`${f.bench} ${sizeOf(f)}, ${place(f)}: ${names[0]} is ${c.verdict}`,
    a && `${names[0]}: ${value(a.median, f.unit)}`,
    b && `${names[c.other]}: ${value(b.median, f.unit)}`,
    `ratio ${ratio(c, c.ratio)}${range}`,
    `p ${c.p.toPrecision(2)}, effect ${c.delta.toFixed(2)}`].filter(Boolean).join("\n");
}

/* What is wrong with the data of the first variant and of another. */
function mistakes(f, other) {
  return [0, other].filter(v => f.wrong[v])
    .map(v => `${names[v]}, ${f.bench} ${sizeOf(f)}: wrong data: ${f.wrong[v]}`).join("\n");
}

function grids() {
  for (let other = 1; other < names.length; other++)
    for (const where of places) {
      const cells = compared(other, where);
      const of = c => data.figures[c.figure];
      const wrong = data.figures.filter(f =>
        place(f) === where && (f.wrong[0] || f.wrong[other]));
      const all = [...cells.map(of), ...wrong];
      if (!all.length) continue;
      const sizes = [...new Set(all.map(f => f.size))].sort((a, b) => a - b);
      const benches = [...new Set(data.figures.filter(f => all.includes(f)).map(f => f.bench))];
      const lines = benches.map(bench => [bench, ...sizes.map(size => {
        const same = f => f.bench === bench && f.size === size;
        const c = cells.find(c => same(of(c))), f = wrong.find(same);
        return c ? { text: ratio(c, c.ratio), class: CLASSES[c.verdict] || "", tip: told(c) } :
          f ? { text: "wrong", class: "wrong", tip: mistakes(f, other) } : "";
      })]);
      const is = verdict => cells.filter(c => c.verdict === verdict).length;
      const grid = add(page, "details");
      if (data.comparisons.length < 200) grid.open = true;
      add(grid, "summary", {}, `${names[0]} next to ${names[other]}, ${where}: ` +
        `better in ${is("better")}, worse in ${is("worse")} of ${all.length}` +
        (wrong.length ? `, wrong data in ${wrong.length}` : ""));
      rows(grid, { class: "verdicts" }, ["ratio", ...sizes.map(bytes)], lines);
    }
}

function guidelines() {
  const broken = data.guidelines.filter(g => g.broken);
  if (!data.guidelines.length) return;
  add(page, "h2", {}, `${broken.length} of ${data.guidelines.length} guidelines are broken`);
  rows(page, {}, ["variant", "where", "times", "p", "collective", "mock-up"], broken.map(g =>
    [names[g.variant], place(g), digits(g.ratio), g.p.toPrecision(2), g.collective, g.mock]));
}

/* Charts. */

function axis(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values);
  const logarithmic = view.logarithmic && low > 0;
  const [a, b] = logarithmic ? [Math.log10(low * 0.9), Math.log10(high * 1.1)]
    : [Math.min(low, 0), high * 1.05 || 1];
  const place = v => from + ((logarithmic ? Math.log10(v) : v) - a) / (b - a || 1) * (to - from);
  const ticks = [];
  if (logarithmic && b - a >= 1) {
    const steps = b - a > 3 ? [1] : [1, 2, 5];
    for (let power = Math.floor(a); power <= b; power++)
      ticks.push(...steps.map(s => s * 10 ** power));
  } else {
    const [first, last] = logarithmic ? [10 ** a, 10 ** b] : [a, b];
    const rough = (last - first) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(s => s * power >= rough);
    for (let t = Math.ceil(first / step) * step; t <= last; t += step) ticks.push(t);
  }
  const inside = t => place(t) <= Math.max(from, to) && place(t) >= Math.min(from, to);
  return { place, ticks: ticks.filter(inside) };
}

/* Series of one chart: for each variant points {x, median, low, high, text}. */
function series(figures) {
  return names.map((name, v) => figures.filter(f => f.variants[v]).map(f => {
    const r = f.variants[v], base = view.relative && f.variants[0] ? f.variants[0].median : 1;
    const ends = r.interval || { low: r.median, high: r.median };
    const range = r.interval ? ` (${value(ends.low, f.unit)} to ${value(ends.high, f.unit)})` : "";
    const q = r.quantiles.map(q => value(q, f.unit));
    return {
      x: f[view.across], median: r.median / base, low: ends.low / base, high: ends.high / base,
      text: `${name}: ${f.bench} ${sizeOf(f)}, ${place(f)}\n` +
        `${value(r.median, f.unit)}${range}, ${r.medians.length} launches\n` +
        `repetitions (batches): half from ${q[1]} to ${q[3]}, 1 % ${q[0]}, 99 % ${q[4]}`,
    };
  }));
}

function chart(parent, title, figures) {
  const [width, height, left, top, right, bottom] = [460, 280, 66, 26, 12, 28];
  const all = series(figures), points = all.filter((_, v) => shown[v]).flat();
  const svg = add(parent, "svg", { viewBox: `0 0 ${width} ${height}`, "data-x": view.across });
  add(svg, "text", { x: left, y: 16, "font-weight": "bold" }, title);
  if (!points.length) return;
  const y = axis(points.flatMap(p => [p.median, p.low, p.high]), height - bottom, top);
  const places = [...new Set(points.map(p => p.x))].sort((a, b) => a - b);
  const step = (width - left - right) / places.length;
  const x = v => left + step * (places.indexOf(v) + 0.5);
  const unit = view.relative ? "x" : figures[0].unit;
  for (const tick of y.ticks) {
    add(svg, "line", { x1: left, x2: width - right, y1: y.place(tick), y2: y.place(tick), class: "grid" });
    add(svg, "text", { x: left - 5, y: y.place(tick) + 4, "text-anchor": "end" }, value(tick, unit));
  }
  const every = Math.ceil(places.length / 9);
  places.filter((p, i) => i % every === 0 && (p || places.length > 1)).forEach(p =>
    add(svg, "text", { x: x(p), y: height - 10, "text-anchor": "middle" }, bytes(p)));
  all.forEach((points, v) => {
    if (!shown[v]) return;
    const stroke = COLOURS[v % COLOURS.length], aside = (v - (names.length - 1) / 2) * 2;
    const at = p => `${x(p.x) + aside},${y.place(p.median)}`;
    add(svg, "polyline", { points: points.map(at).join(" "), fill: "none", stroke, "stroke-width": 1.4 });
    for (const p of points) {
      const cx = x(p.x) + aside;
      add(svg, "line", { x1: cx, x2: cx, y1: y.place(p.low), y2: y.place(p.high), stroke });
      add(svg, "circle", { cx, cy: y.place(p.median), r: 3, fill: stroke });
      hover(add(svg, "circle", { cx, cy: y.place(p.median), r: 9, fill: "transparent" }), p.text);
    }
  });
}

/* A chart for each benchmark: across sizes one for each number of ranks, across ranks one for each
 * size. */
function draw(parent) {
  parent.replaceChildren();
  const groups = new Map();
  for (const f of data.figures.filter(wanted)) {
    const title = view.across === "size" ? `${f.bench}, ${place(f)}`
      : `${f.bench}${f.sized ? ` ${sizeOf(f)}` : ""}${f.label ? `, ${f.label}` : ""}`;
    if (!groups.has(title)) groups.set(title, []);
    groups.get(title).push(f);
  }
  for (const [title, figures] of groups) chart(parent, title, figures);
}

function check(parent, text, change) {
  const label = add(parent, "label");
  const box = add(label, "input", { type: "checkbox" });
  label.append(` ${text}`);
  box.addEventListener("change", () => change(box.checked));
  return box;
}

/* Which benchmarks and places are drawn: many charts at once are slow, and nobody looks at them. */
function filters(parent, again) {
  const benches = [...new Set(data.figures.map(f => f.bench))];
  if (benches.length < 2 && places.length < 2) return;
  const many = benches.length * places.length > 40;
  const where = add(parent, "select");
  if (!many) add(where, "option", { value: "" }, "everywhere");
  for (const p of places) add(where, "option", { value: p }, p);
  where.addEventListener("change", () => again(() => { view.place = where.value; })());
  view.place = where.value;
  const name = add(parent, "input", { placeholder: "part of a name", type: "search" });
  name.addEventListener("input", () => again(() => { view.bench = name.value; })());
  name.value = view.bench = many ? "latency" : "";
}

function charts() {
  add(page, "h2", {}, "Charts");
  const controls = add(page, "p", { class: "controls" }), drawings = add(page, "div", { class: "charts" });
  const again = change => on => { change(on); draw(drawings); };
  check(controls, "logarithmic", again(on => { view.logarithmic = on; })).checked = true;
  if (names.length > 1) check(controls, `relative to ${names[0]}`, again(on => { view.relative = on; }));
  if (ranks.size > 1)
    check(controls, "across ranks", again(on => { view.across = on ? "ranks" : "size"; }));
  filters(controls, again);
  names.forEach((name, v) => {
    const legend = add(controls, "span", { class: "legend" });
    add(legend, "i", { style: `background:${COLOURS[v % COLOURS.length]}` });
    legend.append(name);
    legend.addEventListener("click", () => {
      shown[v] = !shown[v];
      legend.classList.toggle("off", !shown[v]);
      draw(drawings);
    });
  });
  draw(drawings);
}

function figures() {
  const table = add(page, "details");
  if (data.figures.length < 200) table.open = true;
  add(table, "summary", {}, "Figures");
  const reached = (f, r) => [value(r.median, f.unit),
    r.interval ? `${value(r.interval.low, f.unit)} to ${value(r.interval.high, f.unit)}` : "",
    r.medians.length];
  const lines = data.figures.flatMap(f => f.variants.map((r, v) => (r || f.wrong[v]) && [
    f.bench, sizeOf(f), place(f), names[v],
    ...r ? reached(f, r) : [{ text: "wrong data", class: "wrong", tip: f.wrong[v] }]])).filter(Boolean);
  rows(table, {}, ["benchmark", "size", "where", "variant", "median", "interval", "launches"], lines);
}

summary();
doubts();
grids();
guidelines();
charts();
figures();
facts();
document.body.dataset.ready = "yes";
