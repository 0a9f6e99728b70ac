// SPDX-License-Identifier: Apache-2.0
// The profiles of the page, and what is derived from them.
"use strict";

const state = {
  a: null, // the profile of the page
  b: null, // the one that it is compared with
  chosen: -1, // index of a layer
  found: null, // set of the indices of found layers, or null
  paint: "share",
  statistic: "mean", // of inferences: the times that count
};

const byId = (id) => document.getElementById(id);

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "style") made.style.cssText = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Times of an earlier page are there in the form of its report, too.
function readProfile(text) {
  let parsed;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error("it is no JSON: " + error.message);
  }
  const profile = parsed && parsed.profile ? parsed.profile : parsed;
  if (!profile || !Array.isArray(profile.layers) || !Array.isArray(profile.types)) {
    throw new Error("it has no profile; write it with --profile --report-json FILE");
  }
  return prepare(profile);
}

function prepare(profile) {
  profile.layers.forEach((layer, index) => {
    layer.index = index;
    layer.inputs = layer.inputs || [];
    layer.outputs = layer.outputs || [];
    layer.label = layer.name || "(" + layer.type + ")";
    layer.bytes = ["input_bytes", "output_bytes", "constant_bytes"].every((key) => key in layer)
      ? layer.input_bytes + layer.output_bytes + layer.constant_bytes : null;
    layer.words = [layer.label, layer.type, layer.backend, layer.kernel, layer.network || ""].join(" ").toLowerCase();
  });
  profile.readers = profile.layers.map(() => []);
  for (const layer of profile.layers) {
    for (const from of layer.inputs) {
      if (from >= 0 && from < profile.layers.length) profile.readers[from].push(layer.index);
    }
  }
  profile.rank = new Map(profile.types.map((type, rank) => [type.type, rank]));
  takeTimes(profile);
  return profile;
}

// Takes the times of the chosen statistic, and sums them up.
function takeTimes(profile) {
  for (const layer of profile.layers) layer.time = layer.ms ? layer.ms[state.statistic] : 0;
  profile.time = profile.inference_ms ? profile.inference_ms[state.statistic] : 0;
  profile.sum = timeOf(profile.layers);
  profile.longest = profile.layers.reduce((longest, layer) => Math.max(longest, layer.time), 0);
  for (const type of profile.types) {
    const layers = profile.layers.filter((layer) => layer.ms && layer.type === type.type);
    const per = (count) => {
      const known = layers.filter((layer) => typeof count(layer) === "number");
      return known.reduce((sum, layer) => sum + count(layer), 0) / timeOf(known);
    };
    type.ms = timeOf(layers);
    type.share = type.ms / profile.sum;
    type.gops = per((layer) => layer.operations) / 1e6;
    type.gbs = per((layer) => layer.bytes) / 1e6;
    type.roof = per((layer) => layer.roofline_ms);
  }
}

// The layers of `b` for those of `a`: of the same name and type, in their order where several have these.
function match(a, b) {
  const places = new Map();
  const key = (layer) => (layer.network || "") + "\n" + layer.name + "\n" + layer.type;
  for (const layer of b.layers) {
    if (!places.has(key(layer))) places.set(key(layer), []);
    places.get(key(layer)).push(layer);
  }
  for (const list of places.values()) list.reverse();
  for (const layer of a.layers) {
    const list = places.get(key(layer));
    layer.other = list && list.length ? list.pop() : null;
  }
}

const numberText = (value, digits) => value.toLocaleString("en-US",
  { minimumFractionDigits: digits, maximumFractionDigits: digits });

function msText(ms) {
  if (ms === 0) return "0 ms";
  if (ms >= 100) return numberText(ms, 0) + " ms";
  if (ms >= 1) return numberText(ms, 2) + " ms";
  return numberText(ms * 1000, ms * 1000 >= 100 ? 0 : 1) + " µs";
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    ++unit;
  }
  return numberText(bytes, unit === 0 || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2) + " " + units[unit];
}

function countText(count) {
  for (const [size, letter] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) {
    if (count >= size) return numberText(count / size, count / size >= 100 ? 0 : 1) + letter;
  }
  return String(count);
}

const percentText = (part) => numberText(part * 100, part >= 0.0995 ? 0 : part >= 0.00995 ? 1 : 2) + " %";
const rateText = (perMs) => numberText(perMs / 1e6, perMs >= 1e8 ? 0 : perMs >= 1e7 ? 1 : 2);

// "1.32× slower" as text with a class.
function changeText(now, before) {
  if (!(now > 0 && before > 0)) return { text: "–", kind: "" };
  const ratio = now / before;
  if (Math.abs(ratio - 1) < 0.005) return { text: "same", kind: "" };
  return ratio > 1 ? { text: numberText(ratio, 2) + "× slower", kind: "slower" }
    : { text: numberText(1 / ratio, 2) + "× faster", kind: "faster" };
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let colours = {};

function readColours() {
  colours = {};
  for (const name of ["ground", "panel", "line", "text", "quiet", "accent", "accent-soft", "card", "card-line", "edge",
    "heat", "slower", "faster"]) {
    colours[name] = style("--" + name);
  }
  colours.types = Array.from({ length: 10 }, (unused, i) => style("--t" + i));
}

function typeColour(type) {
  const rank = state.a.rank.has(type) ? state.a.rank.get(type) : 9;
  return colours.types[Math.min(rank, 9)];
}

function backendColour(backend) {
  const names = [...new Set(state.a.layers.map((layer) => layer.backend))].sort();
  return backend ? colours.types[names.indexOf(backend) % 9] : colours.types[9];
}

// A colour over the panel's: `part` from 0 to 1.
const mix = (triple, part) => `rgba(${triple}, ${(0.08 + 0.72 * part).toFixed(3)})`;

function changeColour(now, before) {
  if (!(now > 0 && before > 0)) return "transparent";
  const change = Math.log2(now / before);
  return mix(change > 0 ? colours.slower : colours.faster, Math.min(Math.abs(change), 1));
}

const timeOf = (layers) => layers.reduce((all, layer) => all + layer.time, 0);

// The fill of a card of the graph for the layers of so many cards.
function paintOf(layers, cards = 1) {
  const ms = timeOf(layers) / cards;
  if (state.paint === "type") return typeColour(layers[0].type);
  if (state.paint === "backend") return backendColour(layers[0].backend);
  if (state.paint === "change") {
    return changeColour(ms, timeOf(layers.map((layer) => layer.other || { time: 0 })) / cards);
  }
  return ms > 0 ? mix(colours.heat, Math.min(Math.sqrt(ms / state.longestCard), 1)) : "transparent";
}
