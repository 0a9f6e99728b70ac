// SPDX-License-Identifier: Apache-2.0
// Charts on canvases, and the bars of types and threads.
"use strict";

// A canvas that is drawn anew where its size changes. `draw` gets a context and the size in pixels of the page.
class Chart {
  constructor(canvas, draw) {
    this.canvas = canvas;
    this.paint = draw;
    new ResizeObserver(() => this.drawNow()).observe(canvas);
  }

  draw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.drawNow();
    });
  }

  drawNow() {
    const box = this.canvas.getBoundingClientRect();
    if (!box.width || !state.a) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "11px system-ui, sans-serif";
    this.paint(context, box.width, box.height);
  }

  // `find` gives the layer at a place, `describe` the text about it.
  listen(find, describe, choose) {
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return find(event.clientX - box.left, event.clientY - box.top, box.width, box.height);
    };
    this.canvas.addEventListener("pointermove", (event) => {
      const found = at(event);
      if (found) showTip(event, describe(found));
      else hideTip();
    });
    this.canvas.addEventListener("pointerleave", hideTip);
    this.canvas.addEventListener("click", (event) => {
      const found = at(event);
      if (found) choose(found);
    });
  }
}

// Round steps for an axis that ends at `max`, with about `count` of them. `base` 2: steps are powers of it, for bytes.
function axisSteps(max, count, base = 10) {
  const rough = Math.max(max / count, 1e-9);
  const power = base ** Math.floor(Math.log(rough) / Math.log(base) + 1e-9);
  const step = (base === 2 ? [1, 2] : [1, 2, 5, 10]).map((factor) => factor * power).find((value) => value >= rough * 0.999);
  const steps = [];
  for (let value = 0; value <= max * 1.0001; value += step) steps.push(value);
  return steps;
}

function paintGrid(context, left, top, width, height, max, text, base) {
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.lineWidth = 1;
  for (const value of axisSteps(max, Math.max(2, height / 45), base)) {
    const y = Math.round(top + height - value / max * height) + 0.5;
    context.strokeStyle = colours.line;
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(left + width, y);
    context.stroke();
    context.fillStyle = colours.quiet;
    context.fillText(text(value), left - 7, y);
  }
}

const Plot = { left: 64, top: 8, bottom: 20, right: 6 };

function plotOf(width, height) {
  return { left: Plot.left, top: Plot.top, width: width - Plot.left - Plot.right, height: height - Plot.top - Plot.bottom };
}

function paintIndexAxis(context, plot, count) {
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillStyle = colours.quiet;
  const steps = axisSteps(count - 1, Math.max(2, plot.width / 90)).filter((value) => Number.isInteger(value));
  for (const value of steps) {
    const x = plot.left + (value + 0.5) / count * plot.width;
    if (x < plot.left + plot.width - 8) context.fillText(String(value), x, plot.top + plot.height + 5);
  }
}

// Bars of the layers' times; where there are more layers than pixels, the longest of each pixel.
function paintTimes(context, width, height) {
  const { layers } = state.a;
  const plot = plotOf(width, height);
  const max = Math.max(state.a.longest, state.b ? state.b.longest : 0) || 1;
  paintGrid(context, plot.left, plot.top, plot.width, plot.height, max, msText);
  const column = plot.width / layers.length;
  const bar = (ms) => ms / max * plot.height;
  const highest = new Float64Array(Math.ceil(plot.width) + 1);
  for (const layer of layers) {
    const x = plot.left + layer.index * column;
    const gap = column > 5 ? 1.5 : column > 3 ? 1 : 0;
    if (column < 1) {
      const pixel = Math.floor(x - plot.left);
      if (layer.time <= highest[pixel] && layer.index !== state.chosen) continue;
      highest[pixel] = layer.time;
    }
    context.globalAlpha = !state.found || state.found.has(layer.index) ? 1 : 0.2;
    context.fillStyle = typeColour(layer.type);
    const y = bar(layer.time);
    const half = state.b && column > 6 ? (column - gap) / 2 : column - gap;
    context.fillRect(x, plot.top + plot.height - y, Math.max(half, 1), y);
    if (state.b && layer.other) {
      const before = bar(layer.other.time);
      context.fillStyle = colours.quiet;
      context.globalAlpha *= 0.5;
      context.fillRect(x + half, plot.top + plot.height - before, Math.max(column - gap - half, 1), before);
    }
    context.globalAlpha = 1;
    if (layer.index === state.chosen) {
      context.strokeStyle = colours.accent;
      context.lineWidth = 2;
      context.strokeRect(x - 1, plot.top + 1, Math.max(column - gap, 2) + 2, plot.height);
    }
  }
  paintIndexAxis(context, plot, layers.length);
}

function findTime(x, y, width, height) {
  const plot = plotOf(width, height);
  return state.a.layers[Math.floor((x - plot.left) / plot.width * state.a.layers.length)] || null;
}

function paintStrip(context, width, height) {
  let x = Plot.left;
  const all = width - Plot.left - Plot.right;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const layer of state.a.layers) {
    const wide = state.a.sum ? layer.time / state.a.sum * all : 0;
    if (wide > 0) {
      context.globalAlpha = !state.found || state.found.has(layer.index) ? 1 : 0.25;
      context.fillStyle = typeColour(layer.type);
      context.fillRect(x, 0, Math.max(wide - (wide > 3 ? 1 : 0), 0.5), height);
      context.globalAlpha = 1;
      if (layer.index === state.chosen) {
        context.strokeStyle = colours.text;
        context.lineWidth = 2;
        context.strokeRect(x + 1, 1, Math.max(wide - 3, 1), height - 2);
      }
    }
    x += wide;
  }
}

function findInStrip(x, y, width) {
  let from = Plot.left;
  for (const layer of state.a.layers) {
    from += layer.time / state.a.sum * (width - Plot.left - Plot.right);
    if (x < from && x >= Plot.left) return layer;
  }
  return null;
}

// Tensors of the arena as {layer, output}.
function arenaTensors(profile) {
  const tensors = [];
  for (const layer of profile.layers) {
    if (layer.network) continue;
    for (const output of layer.outputs) {
      if (output.memory === "arena" && output.bytes) tensors.push({ layer, output });
    }
  }
  return tensors;
}

function arenaRectangle(tensor, plot) {
  const column = plot.width / state.a.layers.length;
  const { output, layer } = tensor;
  const last = Math.max(output.last_reader, layer.index);
  const max = state.a.arena_bytes || 1;
  return [plot.left + layer.index * column, plot.top + plot.height - (output.offset + output.bytes) / max * plot.height,
    (last - layer.index + 1) * column, output.bytes / max * plot.height];
}

function paintArena(context, width, height) {
  const plot = plotOf(width, height);
  const max = state.a.arena_bytes || 1;
  paintGrid(context, plot.left, plot.top, plot.width, plot.height, max, bytesText, 2);
  const column = plot.width / state.a.layers.length;
  for (const tensor of state.a.tensors) {
    const [x, y, wide, high] = arenaRectangle(tensor, plot);
    context.globalAlpha = !state.found || state.found.has(tensor.layer.index) ? 0.82 : 0.15;
    context.fillStyle = typeColour(tensor.layer.type);
    context.fillRect(x, y, Math.max(wide, 1), Math.max(high, 1));
    context.globalAlpha = 1;
    if (column > 3 && high > 3) {
      context.strokeStyle = colours.panel;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, Math.max(wide - 1, 0.5), high - 1);
    }
    if (tensor.layer.index === state.chosen) {
      context.strokeStyle = colours.accent;
      context.lineWidth = 2.5;
      context.strokeRect(x + 1, y + 1, Math.max(wide - 2, 1), Math.max(high - 2, 1));
    }
  }
  if (state.chosen >= 0) {
    context.fillStyle = colours.accent;
    context.globalAlpha = 0.16;
    context.fillRect(plot.left + state.chosen * column, plot.top, Math.max(column, 1.5), plot.height);
    context.globalAlpha = 1;
  }
  paintIndexAxis(context, plot, state.a.layers.length);
}

function findTensor(x, y, width, height) {
  const plot = plotOf(width, height);
  const isIn = (tensor) => {
    const [left, top, wide, high] = arenaRectangle(tensor, plot);
    return x >= left && x < left + Math.max(wide, 1) && y >= top && y < top + Math.max(high, 1);
  };
  return state.a.tensors.find(isIn) || null;
}

// Both axes of the roofline are logarithmic: operations per byte, and operations per second.
function rooflineDots() {
  return state.a.layers.filter((layer) => layer.time > 0 && layer.bytes > 0 && layer.operations > 0);
}

function rooflineScale(width, height) {
  const { peaks } = state.a;
  const roofs = ["int8", "int16", "bfloat16", "float32"].filter((type) => peaks[type + "_macs_per_s"])
    .map((type) => ({ type, rate: 2 * peaks[type + "_macs_per_s"] }));
  const dots = rooflineDots();
  const xs = dots.map((layer) => Math.log10(layer.operations / layer.bytes));
  const ys = dots.map((layer) => Math.log10(layer.operations / layer.time * 1e3));
  const extent = (values, low, high) => [Math.floor(values.reduce((a, b) => Math.min(a, b), low)),
    Math.ceil(values.reduce((a, b) => Math.max(a, b), high))];
  const [x0, x1] = extent(xs, 0, 2);
  const [y0, y1] = extent(ys, 9, Math.log10(roofs.reduce((max, roof) => Math.max(max, roof.rate), 1e10)) + 0.1);
  const plot = plotOf(width, height);
  return { roofs, dots, plot, x0, x1, y0, y1,
    x: (value) => plot.left + (Math.log10(value) - x0) / (x1 - x0) * plot.width,
    y: (value) => plot.top + plot.height - (Math.log10(value) - y0) / (y1 - y0) * plot.height };
}

function paintRoofline(context, width, height) {
  if (!state.a.peaks) return;
  const scale = rooflineScale(width, height);
  const { plot } = scale;
  const rate = (value) => (value >= 1e12 ? value / 1e12 + " TOP/s" : value >= 1e9 ? value / 1e9 + " GOP/s" : value / 1e6 + " MOP/s");
  context.textBaseline = "middle";
  for (let power = scale.y0; power <= scale.y1; ++power) {
    const y = Math.round(scale.y(10 ** power)) + 0.5;
    context.strokeStyle = colours.line;
    context.strokeRect(plot.left, y, plot.width, 0);
    context.fillStyle = colours.quiet;
    context.textAlign = "right";
    context.fillText(rate(10 ** power), plot.left - 6, y);
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (let power = scale.x0; power <= scale.x1; ++power) {
    const x = Math.min(Math.max(scale.x(10 ** power), plot.left + 10), plot.left + plot.width - 10);
    context.fillText(String(10 ** power), x, plot.top + plot.height + 5);
  }
  context.save();
  context.beginPath();
  context.rect(plot.left, plot.top, plot.width, plot.height);
  context.clip();
  const { copies } = state.a.peaks;
  const highest = scale.roofs.reduce((max, roof) => Math.max(max, roof.rate), 0);
  context.lineWidth = 1.5;
  context.strokeStyle = colours.quiet;
  for (const [copy, dash] of [[copies[0], [5, 4]], [copies[copies.length - 1], []]]) { // caches, then memory
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(scale.x(10 ** scale.x0), scale.y(10 ** scale.x0 * copy.bytes_per_s));
    context.lineTo(scale.x(highest / copy.bytes_per_s), scale.y(highest));
    context.stroke();
  }
  context.setLineDash([]);
  context.textAlign = "right";
  context.textBaseline = "bottom";
  let above = -Infinity;
  for (const roof of scale.roofs.sort((a, b) => b.rate - a.rate)) {
    const y = scale.y(roof.rate);
    context.strokeStyle = colours.quiet;
    context.strokeRect(plot.left, y, plot.width, 0);
    if (y - above > 13) { // close ones have one name
      context.fillStyle = colours.quiet;
      context.fillText(roof.type, plot.left + plot.width - 4, y - 2);
      above = y;
    }
  }
  for (const layer of scale.dots) {
    context.globalAlpha = !state.found || state.found.has(layer.index) ? 0.8 : 0.15;
    context.fillStyle = typeColour(layer.type);
    context.beginPath();
    context.arc(scale.x(layer.operations / layer.bytes), scale.y(layer.operations / layer.time * 1e3), dotRadius(layer), 0, 7);
    context.fill();
    context.globalAlpha = 1;
    if (layer.index === state.chosen) {
      context.strokeStyle = colours.text;
      context.lineWidth = 2;
      context.stroke();
    }
  }
  context.restore();
}

const dotRadius = (layer) => 3 + 7 * Math.sqrt(layer.time / state.a.longest);

function findDot(x, y, width, height) {
  if (!state.a.peaks) return null;
  const scale = rooflineScale(width, height);
  let found = null;
  let nearest = 64;
  for (const layer of scale.dots) {
    const far = (scale.x(layer.operations / layer.bytes) - x) ** 2 + (scale.y(layer.operations / layer.time * 1e3) - y) ** 2;
    if (far < Math.max(nearest, dotRadius(layer) ** 2) && far <= nearest + dotRadius(layer) ** 2) {
      found = layer;
      nearest = far;
    }
  }
  return found;
}

function showTypes() {
  const { types } = state.a;
  const others = new Map(state.b ? state.b.types.map((type) => [type.type, type]) : []);
  const longest = Math.max(...types.map((type) => type.ms), ...[...others.values()].map((type) => type.ms), 1e-9);
  const items = [...types].sort((x, y) => y.ms - x.ms).map((type) => {
    const other = others.get(type.type);
    const rates = [];
    if (type.gops >= 0.01) rates.push(numberText(type.gops, type.gops >= 10 ? 0 : 2) + " GOP/s");
    if (type.gbs >= 0.01) rates.push(numberText(type.gbs, type.gbs >= 10 ? 0 : 2) + " GB/s");
    if (type.roof > 0) rates.push(percentText(type.roof) + " of roofline");
    if (state.b) rates.push("before " + (other ? msText(other.ms) : "–"));
    const change = other ? changeText(type.ms, other.ms) : null;
    return element("div", { class: "type" },
      element("span", { class: "name" }, type.type + " ", element("small", {}, "× " + type.count)),
      element("span", { class: "value" }, msText(type.ms) + "  ·  " + percentText(type.share)),
      element("span", { class: "rate" + (change ? "" : " whole") }, rates.join("  ·  ")),
      change ? element("span", { class: "rate " + change.kind }, change.text) : null,
      element("div", { class: "track" },
        element("i", { style: `width:${type.ms / longest * 100}%;background:${typeColour(type.type)}` }),
        other ? element("u", { style: `left:${Math.min(other.ms / longest * 100, 99.5)}%`, title: "the other run" }) : null));
  });
  byId("types").replaceChildren(...items);
}

function showThreads() {
  const sums = [];
  for (const layer of state.a.layers) {
    (layer.thread_ms || []).forEach((ms, thread) => { sums[thread] = (sums[thread] || 0) + ms; });
  }
  byId("threads-panel").hidden = sums.length < 2;
  byId("threads").replaceChildren(...sums.map((ms, thread) => {
    const part = Math.min(ms / state.a.sum, 1);
    return element("div", { class: "bar" }, element("span", {}, "thread " + thread),
      element("div", {}, element("i", { style: `width:${part * 100}%` })),
      element("span", {}, percentText(part)));
  }), element("p", { class: "quiet note" }, "Time that each thread works while layers run; the first one is the caller."));
}
