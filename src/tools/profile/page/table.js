// SPDX-License-Identifier: Apache-2.0
// The table of layers. Only the rows in view are in the document.
"use strict";

const RowHeight = 29;

class LayerTable {
  constructor(box, choose) {
    this.box = box;
    this.choose = choose;
    this.order = { key: "index", isDown: false };
    this.rows = new Map();
    box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.arrange()).observe(box);
    box.addEventListener("keydown", (event) => this.press(event));
  }

  columns() {
    const isNarrow = this.box.clientWidth < 640;
    const all = [
      { key: "index", title: "#", wide: 44, isNumber: true, text: (layer) => String(layer.index) },
      { key: "label", title: "name", wide: isNarrow ? 130 : 150, text: (layer) => (layer.network ? layer.network + "/" : "") + layer.label },
      { key: "type", title: "type", wide: 168, text: (layer) => layer.type },
      { key: "time", title: "time", wide: 78, isNumber: true, text: (layer) => ("runs_in" in layer ? "fused" : layer.ms ? msText(layer.time) : "–") },
      { key: "time", title: "share", wide: 104, isNumber: true, isShare: true, text: (layer) => (layer.ms ? percentText(layer.time / state.a.sum) : "") },
    ];
    if (state.b) {
      all.push({ key: "before", title: "before", wide: 78, isNumber: true, text: (layer) => (layer.other && layer.other.ms ? msText(layer.other.time) : "–") },
        { key: "change", title: "change", wide: 104, isNumber: true, isChange: true, text: (layer) => changeText(layer.time, layer.other ? layer.other.time : 0).text });
    }
    all.push(
      { key: "gops", title: "GOP/s", wide: 62, isNumber: true, text: (layer) => (layer.gops ? rateText(layer.gops) : "") },
      { key: "gbs", title: "GB/s", wide: 58, isNumber: true, text: (layer) => (layer.gbs ? rateText(layer.gbs) : "") });
    if (state.a.peaks) {
      all.push({ key: "roof", title: "roofline", wide: 66, isNumber: true, text: (layer) => (layer.roof ? percentText(layer.roof) : "") });
    }
    all.push({ key: "backend", title: "backend", wide: 66, text: (layer) => layer.backend || "–" },
      { key: "kernel", title: "kernel", wide: 260, text: (layer) => layer.kernel });
    if (!isNarrow) return all;
    const places = ["label", "time", "before", "change", "type", "gops", "roof", "backend", "kernel"]; // the others are left out
    return places.flatMap((key) => all.filter((column) => column.key === key));
  }

  show() {
    for (const layer of state.a.layers) {
      layer.before = layer.other ? layer.other.time : 0;
      layer.change = layer.other && layer.other.time > 0 && layer.time > 0 ? layer.time / layer.other.time : 0;
      layer.gops = layer.time > 0 && layer.operations ? layer.operations / layer.time : 0;
      layer.gbs = layer.time > 0 && layer.bytes ? layer.bytes / layer.time : 0;
      layer.roof = layer.time > 0 && layer.roofline_ms ? layer.roofline_ms / layer.time : 0;
    }
    this.sort();
  }

  sort() {
    const { key, isDown } = this.order;
    const layers = state.a.layers.filter((layer) => !state.found || state.found.has(layer.index));
    const compare = (a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : a.index - b.index);
    layers.sort((a, b) => (isDown ? compare(b, a) : compare(a, b)));
    this.layers = layers;
    byId("layers-about").textContent = state.found ? `${layers.length} of ${state.a.layers.length} found`
      : `${layers.length}, of which ${state.a.layers.filter((layer) => layer.ms).length} have a time of their own`;
    this.arrange();
  }

  arrange() {
    if (!this.layers) return;
    this.shown = this.columns();
    const template = this.shown.map((column, i) => (i + 1 < this.shown.length ? column.wide + "px" : `minmax(${column.wide}px, 1fr)`)).join(" ");
    this.template = template;
    const titles = element("div", { class: "row titles", role: "row", style: "grid-template-columns:" + template });
    for (const column of this.shown) {
      const isOn = column.key === this.order.key && !column.isShare;
      titles.append(element("button", { type: "button", role: "columnheader",
        class: (column.isNumber ? "n " : "") + (isOn ? "on" : ""),
        "aria-sort": isOn ? (this.order.isDown ? "descending" : "ascending") : "none",
        onclick: () => this.orderBy(column) }, column.title + (isOn ? (this.order.isDown ? " ▾" : " ▴") : "")));
    }
    const width = this.shown.reduce((sum, column) => sum + column.wide + 10, 10);
    this.body = element("div", { style: `height:${this.layers.length * RowHeight}px;position:relative;min-width:${width}px` });
    titles.style.minWidth = width + "px";
    this.box.replaceChildren(titles, this.body);
    this.rows.clear();
    this.draw();
  }

  orderBy(column) {
    const isSame = this.order.key === column.key;
    this.order = { key: column.key, isDown: isSame ? !this.order.isDown : Boolean(column.isNumber) && column.key !== "index" };
    this.sort();
  }

  draw() {
    if (!this.body) return;
    const first = Math.max(0, Math.floor(this.box.scrollTop / RowHeight) - 6);
    const last = Math.min(this.layers.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / RowHeight) + 6);
    for (const [at, row] of this.rows) {
      if (at < first || at >= last) {
        row.remove();
        this.rows.delete(at);
      }
    }
    for (let at = first; at < last; ++at) {
      if (!this.rows.has(at)) {
        const row = this.makeRow(this.layers[at], at);
        this.rows.set(at, row);
        this.body.append(row);
      }
      this.rows.get(at).classList.toggle("chosen", this.layers[at].index === state.chosen);
    }
  }

  makeRow(layer, at) {
    const row = element("div", { class: "row body", role: "row", onclick: () => this.choose(layer.index),
      style: `top:${at * RowHeight}px;grid-template-columns:${this.template}` });
    for (const column of this.shown) {
      const text = column.text(layer);
      const cell = element("span", { role: "cell", class: column.isNumber ? "n" : "", title: column.isNumber ? "" : text });
      if (column.isShare) {
        cell.classList.add("share");
        cell.append(element("i", { style: `width:${layer.time / state.a.longest * 50}%` }), element("b", {}, text));
      } else {
        cell.textContent = text;
      }
      if (column.isChange) cell.className += " " + changeText(layer.time, layer.before).kind;
      row.append(cell);
    }
    return row;
  }

  reveal(index) {
    const at = this.layers.findIndex((layer) => layer.index === index);
    if (at >= 0) {
      const top = at * RowHeight;
      const room = this.box.clientHeight - 34;
      if (top < this.box.scrollTop || top + RowHeight > this.box.scrollTop + room) this.box.scrollTop = Math.max(0, top - room / 2);
    }
    this.draw();
  }

  press(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 }[event.key];
    if (!by || !this.layers.length || event.target !== this.box) return;
    event.preventDefault();
    const at = this.layers.findIndex((layer) => layer.index === state.chosen);
    this.choose(this.layers[Math.min(Math.max(at + by, 0), this.layers.length - 1)].index);
  }
}
