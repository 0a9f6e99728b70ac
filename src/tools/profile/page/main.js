// SPDX-License-Identifier: Apache-2.0
// Puts the page together: figures, details of the chosen layer, reasons, search, comparison.
"use strict";

// Errors are shown, and tests of the page look for them.
const errors = [];
window.addEventListener("error", (event) => {
  errors.push(event.message);
  document.documentElement.dataset.errors = errors.join("; ");
});

function showMessage(text) {
  byId("message").textContent = text;
  byId("message").hidden = !text;
}

function showTip(event, content) {
  const tip = byId("tip");
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = event.clientX + 16 + box.width > innerWidth ? event.clientX - box.width - 12 : event.clientX + 16;
  const y = Math.min(event.clientY + 14, innerHeight - box.height - 8);
  tip.style.left = Math.max(8, x) + "px";
  tip.style.top = Math.max(8, y) + "px";
}

function hideTip() {
  byId("tip").hidden = true;
}

const line = (text) => element("div", {}, text);

function describeLayer(layer) {
  const lines = [element("b", {}, layer.label), line(layer.type + "  ·  " + (layer.backend || "runtime"))];
  if (layer.ms) lines.push(line(`${msText(layer.time)}  ·  ${percentText(layer.time / state.a.sum)} of layers`));
  if ("runs_in" in layer) lines.push(line("runs as a part of " + state.a.layers[layer.runs_in].label));
  if (state.b && layer.other) lines.push(line(`before ${msText(layer.other.time)}: ${changeText(layer.time, layer.other.time).text}`));
  return lines;
}

function describeCard(card) {
  if (!card.block) return describeLayer(card.layers[0]);
  const ms = timeOf(card.layers);
  return [element("b", {}, `Block ${card.block.number} of ${card.block.count}`),
    line(`${card.layers.length} layers  ·  ${msText(ms)}  ·  ${percentText(ms / state.a.sum)}`),
    line(card.layers.slice(0, 8).map((layer) => layer.type).join(", ") + (card.layers.length > 8 ? " …" : "")),
    line("Click to unfold")];
}

function describeTensor({ layer, output }) {
  const last = state.a.layers[output.last_reader] || layer;
  return [element("b", {}, layer.label), line(`${output.type} ${output.shape}, ${bytesText(output.bytes)}`),
    line(`at ${bytesText(output.offset)}, from layer ${layer.index} to ${last.index} (${last.label})`)];
}

function tile(value, unit, text, change) {
  return element("div", { class: "tile" }, element("b", {}, value, unit ? element("small", {}, " " + unit) : null),
    element("span", {}, text), change && change.kind ? element("span", { class: change.kind }, change.text) : null);
}

function showFigures() {
  const { a, b } = state;
  const split = (text) => text.split(" ");
  const tiles = [];
  if (a.inference_ms) {
    const [value, unit] = split(msText(a.time));
    tiles.push(tile(value, unit, `an inference, ${msText(a.inference_ms.min)} to ${msText(a.inference_ms.max)}`,
      b && b.inference_ms ? changeText(a.time, b.time) : null));
  }
  const [sum, sumUnit] = split(msText(a.sum));
  tiles.push(tile(sum, sumUnit, state.statistic === "mean" ? "of it in layers" : "sum of the layers", b ? changeText(a.sum, b.sum) : null));
  const operations = a.layers.reduce((all, layer) => all + (layer.ms ? layer.operations || 0 : 0), 0);
  if (operations > 0) tiles.push(tile(rateText(operations / a.sum), "GOP/s", countText(operations) + " operations"));
  const roof = a.layers.reduce(([part, all], layer) => (layer.roofline_ms && layer.ms
    ? [part + layer.roofline_ms, all + layer.time] : [part, all]), [0, 0]);
  if (roof[1] > 0) tiles.push(tile(percentText(roof[0] / roof[1]), "", "of the roofline"));
  const [arena, arenaUnit] = split(bytesText(a.arena_bytes));
  tiles.push(tile(arena, arenaUnit, "arena" + (b ? `, before ${bytesText(b.arena_bytes)}` : "")));
  const weights = a.layers.reduce((all, layer) => all + (layer.constant_bytes || 0), 0);
  if (weights > 0) tiles.push(tile(...split(bytesText(weights)), "constants read"));
  const backends = new Map();
  for (const layer of a.layers) backends.set(layer.backend || "runtime", (backends.get(layer.backend || "runtime") || 0) + 1);
  tiles.push(tile(String(a.layers.length), "layers", [...backends].map(([name, count]) => `${name} ${count}`).join(", ")));
  tiles.push(tile(String(a.threads), a.threads === 1 ? "thread" : "threads",
    a.is_first ? "first inference alone" : `${a.inferences} inference${a.inferences === 1 ? "" : "s"}`));
  byId("figures").replaceChildren(...tiles);
}

function link(index) {
  const layer = state.a.layers[index];
  return element("a", { href: "#", onclick: (event) => { event.preventDefault(); choose(index); } }, layer.label);
}

function links(indices) {
  const made = [];
  for (const index of indices.slice(0, 12)) made.push(...(made.length ? [", "] : []), link(index));
  if (indices.length > 12) made.push(` and ${indices.length - 12} more`);
  return made;
}

function showDetails() {
  const layer = state.a.layers[state.chosen];
  if (!layer) {
    byId("details").replaceChildren(element("p", { class: "quiet" }, "There are no layers."));
    return;
  }
  const list = element("dl", {});
  const add = (title, ...value) => { if (value.length && value[0]) list.append(element("dt", {}, title), element("dd", {}, ...value)); };
  if (layer.ms) {
    add("time", `${msText(layer.time)} (${msText(layer.ms.min)} to ${msText(layer.ms.max)}, median ${msText(layer.ms.median)}), ${percentText(layer.time / state.a.sum)} of layers`);
  }
  if (state.b) {
    const change = layer.other ? changeText(layer.time, layer.other.time) : null;
    add("before", layer.other ? (layer.other.ms ? msText(layer.other.time) : "no time of its own") : "not in that run",
      change && change.kind ? element("span", { class: change.kind }, ", now " + change.text) : "");
  }
  if ("runs_in" in layer) add("runs in", link(layer.runs_in));
  const parts = state.a.layers.filter((other) => other.runs_in === layer.index).map((other) => other.index);
  if (parts.length) add("runs with", ...links(parts));
  if (layer.operations) add("work", countText(layer.operations) + " operations" + (layer.time ? `, ${rateText(layer.operations / layer.time)} GOP/s` : ""));
  if (layer.bytes) add("bytes", `${bytesText(layer.input_bytes)} in, ${bytesText(layer.output_bytes)} out, ${bytesText(layer.constant_bytes)} constant` +
    (layer.time ? `; ${rateText(layer.bytes / layer.time)} GB/s` : ""));
  if (layer.roofline_ms && layer.time) add("roofline", `${msText(layer.roofline_ms)}: ${percentText(layer.roofline_ms / layer.time)} of it is reached`);
  add("backend", layer.backend || "the runtime", layer.reason ? ` (${layer.reason})` : "");
  add("kernel", layer.kernel);
  add("variant", layer.variant);
  add("declined", layer.declined);
  add("activation", layer.fused_activation);
  add("network", layer.network);
  for (const output of layer.outputs) {
    add("output", `${output.type} ${output.shape}` + (output.bytes ? `, ${bytesText(output.bytes)}` : "") +
      `, ${output.memory}` + (output.memory === "arena" ? ` at ${bytesText(output.offset)}` : "") + (output.is_tiled ? ", in tiles" : ""));
  }
  if (layer.scratch_bytes) add("scratch", bytesText(layer.scratch_bytes));
  const inputs = layer.inputs.filter((from) => from >= 0);
  if (inputs.length) add("reads", ...links(inputs));
  if (state.a.readers[layer.index].length) add("read by", ...links(state.a.readers[layer.index]));
  if ((layer.thread_ms || []).length > 1) add("threads", layer.thread_ms.map((ms) => msText(ms)).join(", "));
  byId("details").replaceChildren(element("h3", {}, layer.label),
    element("div", { class: "quiet" }, `${layer.index}  ·  ${layer.type}  ·  ${layer.data_type}`), list);
}

// Layers by a text that they share, those with the longest time first.
function groupBy(textOf) {
  const groups = new Map();
  for (const layer of state.a.layers) {
    const text = textOf(layer);
    if (!text) continue;
    if (!groups.has(text)) groups.set(text, []);
    groups.get(text).push(layer);
  }
  return [...groups].map(([text, layers]) => ({ text, layers, ms: layers.reduce((sum, layer) => sum + layer.time, 0) }))
    .sort((x, y) => y.ms - x.ms);
}

function addGroups(box, title, groups) {
  if (!groups.length) return;
  box.push(element("h3", {}, title));
  for (const group of groups) {
    box.push(element("details", {},
      element("summary", {}, group.text, element("span", { class: "quiet" }, `  ·  ${group.layers.length} layer${group.layers.length === 1 ? "" : "s"}, ${msText(group.ms)}`)),
      element("p", {}, ...links(group.layers.map((layer) => layer.index)))));
  }
}

function showBackends() {
  const box = [];
  addGroups(box, "Who runs the layers", groupBy((layer) => (layer.backend || "the runtime") + (layer.reason ? ": " + layer.reason : "")));
  addGroups(box, "Faster kernels that declined", groupBy((layer) => layer.declined));
  const fusions = new Map();
  for (const fusion of state.a.fusions || []) {
    const text = fusion.fusion + (fusion.why_not ? " not applied: " + fusion.why_not : " applied");
    fusions.set(text, (fusions.get(text) || []).concat(fusion.first));
  }
  if (fusions.size) box.push(element("h3", {}, "Fusions that were tried"));
  for (const [text, firsts] of fusions) {
    box.push(element("details", {}, element("summary", {}, text, element("span", { class: "quiet" }, `  ·  ${firsts.length}`)),
      element("p", {}, ...links(firsts))));
  }
  byId("backends").replaceChildren(...box);
}

function showLegend() {
  const box = byId("graph-legend");
  const key = (colour, text) => element("span", {}, element("i", { style: "background:" + colour }), text);
  if (state.paint === "share" || state.paint === "change") {
    const [left, right, low, high] = state.paint === "share"
      ? ["0", msText(state.longestCard), mix(colours.heat, 0), mix(colours.heat, 1)]
      : ["2× faster", "2× slower", mix(colours.faster, 1), mix(colours.slower, 1)];
    box.replaceChildren(element("span", {}, left,
      element("span", { class: "ramp", style: `background:linear-gradient(90deg,${low},${state.paint === "change" ? "transparent," : ""}${high})` }), right));
  } else if (state.paint === "type") {
    const types = state.a.types.slice(0, 9).map((type) => key(typeColour(type.type), type.type));
    if (state.a.types.length > 9) types.push(key(colours.types[9], "others"));
    box.replaceChildren(...types);
  } else {
    const names = [...new Set(state.a.layers.map((layer) => layer.backend))].sort();
    box.replaceChildren(...names.map((name) => key(backendColour(name), name || "runtime")));
  }
}

let graph;
let table;
let charts = [];

function drawAll() {
  readColours();
  showTypes();
  showThreads();
  showLegend();
  graph.draw();
  charts.forEach((chart) => chart.draw());
}

function choose(index) {
  state.chosen = index;
  showDetails();
  graph.reveal(index);
  graph.draw();
  charts.forEach((chart) => chart.draw());
  table.reveal(index);
}

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  state.found = words.length ? new Set(state.a.layers.filter((layer) => words.every((word) => layer.words.includes(word)))
    .map((layer) => layer.index)) : null;
  table.sort();
  graph.draw();
  charts.forEach((chart) => chart.draw());
}

// The next found layer behind the chosen one.
function findNext(isBack) {
  if (!state.found || !state.found.size) return;
  const indices = [...state.found].sort((x, y) => (isBack ? y - x : x - y));
  choose(indices.find((index) => (isBack ? index < state.chosen : index > state.chosen)) ?? indices[0]);
}

function compareWith(profile) {
  state.b = profile;
  for (const layer of state.a.layers) layer.other = null;
  if (profile) match(state.a, profile);
  const option = byId("paint").querySelector("[value=change]");
  option.hidden = !profile;
  state.paint = profile ? "change" : state.paint === "change" ? "share" : state.paint;
  byId("paint").value = state.paint;
  byId("forget").hidden = !profile;
  byId("times-other").hidden = !profile;
  document.documentElement.dataset.compared = profile ? "true" : "false";
  showAll();
}

function showAll() {
  const { a, b } = state;
  const runs = (profile) => `${profile.model.split("/").pop()}, Tenon ${profile.version}, ${profile.threads} thread${profile.threads === 1 ? "" : "s"}`;
  byId("model").textContent = a.model.split("/").pop();
  byId("about").textContent = (b ? `${runs(a)}, against ${runs(b)}` : `Profile by Tenon ${a.version}`) +
    (state.disturbed ? `; ${state.disturbed}` : "");
  byId("arena-about").textContent = `${bytesText(a.arena_bytes)}; no packing can need less than ${bytesText(a.arena_lower_bound_bytes)}`;
  byId("roofline-panel").hidden = !a.peaks;
  if (a.peaks) {
    byId("roofline-note").textContent = `Operations per byte, and per second. Lines: products of each type, copies in caches (dashed) and in memory, measured with ${a.peaks.threads} thread${a.peaks.threads === 1 ? "" : "s"}.`;
  }
  showFigures();
  showDetails();
  showBackends();
  table.show();
  drawAll();
  const pairs = ["roofline-panel", "backends-panel", "threads-panel"].map(byId).filter((panel) => !panel.hidden);
  pairs.forEach((panel, i) => panel.classList.toggle("wide", i + 1 === pairs.length && pairs.length % 2 === 1));
}

async function open(file) {
  try {
    compareWith(readProfile(await file.text()));
    showMessage("");
  } catch (error) {
    showMessage(`${file.name} cannot be compared with: ${error.message}`);
  }
}

function listen() {
  byId("paint").addEventListener("change", (event) => {
    state.paint = event.target.value;
    showLegend();
    graph.draw();
  });
  const fold = () => {
    graph.foldAll(graph.folded.size === 0);
    byId("fold").textContent = graph.folded.size ? "Unfold" : "Fold";
    graph.reveal(state.chosen);
  };
  byId("fold").addEventListener("click", fold);
  byId("statistic").addEventListener("change", (event) => {
    state.statistic = event.target.value;
    takeTimes(state.a);
    if (state.b) takeTimes(state.b);
    graph.layOut();
    showAll();
  });
  byId("in").addEventListener("click", () => graph.zoom(1.25, graph.viewWidth / 2, graph.viewHeight / 2));
  byId("out").addEventListener("click", () => graph.zoom(0.8, graph.viewWidth / 2, graph.viewHeight / 2));
  byId("fit").addEventListener("click", () => graph.fit());
  byId("previous").addEventListener("click", () => graph.step(-1));
  byId("next").addEventListener("click", () => graph.step(1));
  byId("find").addEventListener("input", (event) => find(event.target.value));
  byId("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") findNext(event.shiftKey);
    if (event.key === "Escape") {
      event.target.value = "";
      find("");
    }
  });
  byId("compare").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", (event) => {
    if (event.target.files.length) open(event.target.files[0]);
    event.target.value = "";
  });
  byId("forget").addEventListener("click", () => compareWith(null));
  const themes = ["", "light", "dark"];
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    root.dataset.theme = themes[(themes.indexOf(root.dataset.theme || "") + 1) % 3];
    if (!root.dataset.theme) delete root.dataset.theme;
    drawAll();
    table.arrange();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      byId("find").focus();
    }
    if (event.key === "f") fold();
    if (event.key === "n") findNext(event.shiftKey);
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    if (event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
  });
}

// Other load of the machine lengthens some inferences by far: where means are much longer than medians, these count.
function chooseStatistic() {
  const { a } = state;
  const medians = a.layers.reduce((sum, layer) => sum + (layer.ms ? layer.ms.median : 0), 0);
  if (medians > 0 && a.sum > 1.25 * medians) {
    state.disturbed = `other load disturbed this run: the means of layers are ${numberText(a.sum / medians, 1)}× their medians`;
    state.statistic = "median";
    byId("statistic").value = "median";
    takeTimes(a);
  }
}

function start() {
  state.a = readProfile(byId("profile").textContent);
  const root = document.documentElement.dataset;
  root.layers = state.a.layers.length;
  root.layersMs = state.a.sum;
  root.typesMs = state.a.types.reduce((sum, type) => sum + type.ms, 0);
  chooseStatistic();
  state.a.tensors = arenaTensors(state.a);
  readColours();
  document.title = "Profile of " + state.a.model.split("/").pop();
  state.chosen = state.a.layers.reduce((chosen, layer) => (layer.time > (chosen < 0 ? -1 : state.a.layers[chosen].time) ? layer.index : chosen), -1);
  graph = new Graph(byId("graph"), choose);
  table = new LayerTable(byId("table"), choose);
  graph.show(state.a);
  byId("fold").textContent = graph.folded.size ? "Unfold" : "Fold";
  byId("fold").hidden = graph.blocks.length === 0;
  const times = new Chart(byId("times"), paintTimes);
  const strip = new Chart(byId("strip"), paintStrip);
  const arena = new Chart(byId("arena"), paintArena);
  const roofline = new Chart(byId("roofline"), paintRoofline);
  charts = [times, strip, arena, roofline];
  const chooseLayer = (layer) => choose(layer.index);
  times.listen(findTime, describeLayer, chooseLayer);
  strip.listen(findInStrip, describeLayer, chooseLayer);
  roofline.listen(findDot, describeLayer, chooseLayer);
  arena.listen(findTensor, describeTensor, (tensor) => choose(tensor.layer.index));
  listen();
  const other = byId("against").textContent.trim();
  compareWith(other ? readProfile(other) : null);
  table.orderBy({ key: "time", isNumber: true });
}

start();
