// SPDX-License-Identifier: Apache-2.0
// The graph of layers on a canvas. Layers stand in rows by the longest path to them, branches in lanes next to each
// other; a connection over several rows runs in a track of its own between lanes. All of it takes time in proportion to
// layers and connections.
"use strict";

const Card = { width: 190, height: 44, gapX: 26, gapY: 26, track: 11 };
// The longest block that counts where there are two of it alone: longer stretches are equal by chance.
const MaxPair = 12;

// Runs of blocks that repeat, as [first, length of a block, number of blocks]: of those that begin at a layer the one
// with the largest number of blocks, and the longest of these. `length` is how far the layers from i on equal those one
// period later.
function findRepeats(signatures) {
  const count = signatures.length;
  const maxPeriod = Math.min(128, count >> 1);
  const best = new Array(count).fill(null);
  for (let period = 2; period <= maxPeriod; ++period) {
    let length = 0;
    for (let i = count - period - 1; i >= 0; --i) {
      length = signatures[i] === signatures[i + period] ? length + 1 : 0;
      const blocks = Math.floor(length / period) + 1;
      const isBlock = blocks > 2 || (blocks === 2 && period <= MaxPair);
      if (isBlock && (!best[i] || blocks >= best[i][2])) best[i] = [i, period, blocks];
    }
  }
  const repeats = [];
  for (let i = 0; i < count;) {
    const found = best[i];
    const isVaried = found && new Set(signatures.slice(i, i + found[1])).size > 1;
    if (isVaried) repeats.push(found);
    i += isVaried ? found[1] * found[2] : 1;
  }
  return repeats;
}

class Graph {
  constructor(canvas, choose) {
    this.canvas = canvas;
    this.choose = choose;
    this.scale = 1;
    this.x = 0; // of the layout at the left edge
    this.y = 0;
    this.pointers = new Map();
    this.folded = new Set();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  show(profile) {
    this.profile = profile;
    this.outer = profile.layers.filter((layer) => !layer.network);
    this.blocks = []; // of layers that repeat, by their place among the outer layers
    for (const [first, length, count] of findRepeats(this.outer.map((layer) => layer.type + layer.data_type))) {
      for (let i = 0; i < count; ++i) {
        this.blocks.push({ first: first + i * length, length, number: i + 1, count });
      }
    }
    this.foldAll(this.outer.length > 120);
  }

  foldAll(isFolded) {
    this.folded = new Set(isFolded ? this.blocks : []);
    this.layOut();
    this.fit();
  }

  toggle(block) {
    if (!this.folded.delete(block)) this.folded.add(block);
    this.layOut();
    this.draw();
  }

  // Cards, and connections between them.
  makeCards() {
    const cards = [];
    const ofLayer = new Map();
    this.profile.inputs.forEach((input, k) => {
      cards.push({ layers: [], title: input.name || "input", line: input.type + " " + input.shape, from: new Set() });
      ofLayer.set(-1 - k, cards[cards.length - 1]);
    });
    let next = 0;
    for (let i = 0; i < this.outer.length;) {
      while (next < this.blocks.length && this.blocks[next].first < i) ++next;
      const block = next < this.blocks.length && this.blocks[next].first === i ? this.blocks[next] : null;
      const isFolded = block && this.folded.has(block);
      const layers = this.outer.slice(i, i + (isFolded ? block.length : 1));
      const card = { layers, from: new Set(), block: isFolded ? block : null, starts: block && !isFolded ? block : null };
      cards.push(card);
      for (const layer of layers) ofLayer.set(layer.index, card);
      i += layers.length;
    }
    this.profile.outputs.forEach((output) => {
      const from = ofLayer.get(output.layer);
      cards.push({ layers: [], title: output.name || "output", line: output.type + " " + output.shape,
        from: new Set(from ? [from] : []) });
    });
    for (const card of cards) {
      for (const layer of card.layers) {
        for (const from of layer.inputs) {
          const source = ofLayer.get(from);
          if (source && source !== card) card.from.add(source);
        }
      }
    }
    this.ofLayer = ofLayer;
    return cards;
  }

  layOut() {
    const cards = this.makeCards();
    this.cards = cards;
    for (const card of cards) {
      card.to = [];
      card.row = 0;
    }
    for (const card of cards) { // sources come before their readers
      for (const from of card.from) {
        from.to.push(card);
        card.row = Math.max(card.row, from.row + 1);
      }
    }
    for (let i = cards.length; i-- > 0;) { // what reads nothing stands close to its first reader
      const card = cards[i];
      if (card.from.size === 0 && card.to.length) {
        card.row = Math.max(0, card.to.reduce((row, to) => Math.min(row, to.row), Infinity) - 1);
      }
    }
    const numRows = cards.reduce((rows, card) => Math.max(rows, card.row + 1), 0);
    this.rows = Array.from({ length: numRows }, () => []);
    for (const card of cards) this.rows[card.row].push(card);
    this.placeInLanes();
    const lanes = this.lanes;
    let x = 0;
    for (const lane of lanes) {
      lane.x = x;
      x += Card.width + Card.gapX + lane.tracks.length * Card.track;
    }
    this.width = Math.max(x - Card.gapX, Card.width);
    this.height = numRows * (Card.height + Card.gapY) - Card.gapY;
    for (const card of cards) {
      card.x = lanes[card.lane].x;
      card.y = card.row * (Card.height + Card.gapY);
    }
    this.boxBlocks();
    state.longestCard = cards.reduce((longest, card) => Math.max(longest, timeOf(card.layers)), 0);
    showLegend();
  }

  placeInLanes() {
    const lanes = []; // until: the last row in which it is taken
    this.lanes = lanes;
    for (const row of this.rows) {
      for (const card of row) {
        let lane = -1;
        for (const from of card.from) {
          if (lanes[from.lane].until < card.row && (lane < 0 || from.lane < lane)) lane = from.lane;
        }
        for (let i = 0; i < lanes.length && lane < 0; ++i) {
          if (lanes[i].until < card.row) lane = i;
        }
        if (lane < 0) lane = lanes.push({ until: -1, tracks: [] }) - 1;
        card.lane = lane;
        lanes[lane].until = card.row;
        card.end = card.to.reduce((end, to) => Math.max(end, to.row - 1), card.row);
        if (card.end > card.row) { // some readers are further away: a track to the last of them
          const tracks = lanes[lane].tracks;
          let track = tracks.findIndex((until) => until < card.row);
          if (track < 0) track = tracks.push(-1) - 1;
          tracks[track] = card.end;
          card.track = track;
        }
      }
    }
  }

  // The rectangles behind unfolded blocks.
  boxBlocks() {
    this.boxes = [];
    for (const block of this.blocks) {
      if (this.folded.has(block)) continue;
      const box = { block, left: Infinity, top: Infinity, right: 0, bottom: 0 };
      for (let i = block.first; i < block.first + block.length; ++i) {
        const card = this.ofLayer.get(this.outer[i].index);
        box.left = Math.min(box.left, card.x - 8);
        box.right = Math.max(box.right, card.x + Card.width + 8);
        box.top = Math.min(box.top, card.y - 9);
        box.bottom = Math.max(box.bottom, card.y + Card.height + 9);
      }
      this.boxes.push(box);
    }
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    if (!box.width) return;
    const isFirst = !this.viewWidth;
    if (!isFirst) this.x += (this.viewWidth - box.width) / 2 / this.scale; // the middle stays in the middle
    this.viewWidth = box.width;
    this.viewHeight = box.height;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    if (!this.profile) return;
    if (isFirst) this.fit();
    this.paint(); // at once: the canvas is empty now
  }

  fit() {
    if (!this.viewWidth || !this.profile) return;
    this.scale = Math.min(1.15, Math.max(0.42, (this.viewWidth - 60) / this.width));
    this.x = Math.max(-16, (this.width - this.viewWidth / this.scale) / 2) || 0;
    if (this.width * this.scale < this.viewWidth - 20) this.x = (this.width - this.viewWidth / this.scale) / 2;
    else this.x = -20 / this.scale;
    this.y = -14 / this.scale;
    this.draw();
  }

  zoom(factor, px, py) {
    const scale = Math.min(2.5, Math.max(0.02, this.scale * factor));
    this.x += px / this.scale - px / scale;
    this.y += py / this.scale - py / scale;
    this.scale = scale;
    this.keepInView();
    this.draw();
  }

  keepInView() {
    const spanX = this.viewWidth / this.scale;
    const spanY = this.viewHeight / this.scale;
    this.x = Math.min(Math.max(this.x, 60 - spanX), this.width - 60);
    this.y = Math.min(Math.max(this.y, 60 - spanY), this.height - 30);
  }

  // Moves the view so that the layer is in it.
  reveal(index) {
    const card = this.ofLayer && this.ofLayer.get(index);
    if (!card || !this.viewWidth) return;
    const spanX = this.viewWidth / this.scale;
    const spanY = this.viewHeight / this.scale;
    if (card.y < this.y + 10 || card.y + Card.height > this.y + spanY - 10) {
      this.y = card.y + Card.height / 2 - spanY / 2;
    }
    if (card.x < this.x || card.x + Card.width > this.x + spanX - 30) this.x = card.x + Card.width / 2 - spanX / 2;
    this.draw();
  }

  draw() {
    if (this.isDue || !this.viewWidth || !this.profile) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.paint();
    });
  }

  paint() {
    const context = this.canvas.getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, this.viewWidth, this.viewHeight);
    context.save();
    context.scale(this.scale, this.scale);
    context.translate(-this.x, -this.y);
    const pitch = Card.height + Card.gapY;
    const first = Math.max(0, Math.floor(this.y / pitch) - 1);
    const last = Math.min(this.rows.length - 1, Math.ceil((this.y + this.viewHeight / this.scale) / pitch));
    this.paintBoxes(context);
    this.paintEdges(context, first, last);
    for (let row = first; row <= last; ++row) {
      for (const card of this.rows[row]) this.paintCard(context, card);
    }
    context.restore();
    this.paintOverview(context);
  }

  paintBoxes(context) {
    const bottom = this.y + this.viewHeight / this.scale;
    for (const box of this.boxes) {
      if (box.bottom < this.y || box.top > bottom) continue;
      context.beginPath();
      context.roundRect(box.left, box.top, box.right - box.left, box.bottom - box.top, 10);
      context.fillStyle = colours.panel;
      context.globalAlpha = 0.55;
      context.fill();
      context.globalAlpha = 1;
      context.setLineDash([4, 4]);
      context.strokeStyle = colours["card-line"];
      context.lineWidth = 1;
      context.stroke();
      context.setLineDash([]);
    }
  }

  paintEdges(context, first, last) {
    const chosen = this.ofLayer.get(state.chosen);
    context.lineWidth = Math.min(Math.max(1.3, 0.8 / this.scale), 6);
    for (const isStrong of [false, true]) {
      context.strokeStyle = isStrong ? colours.accent : colours.edge;
      context.beginPath();
      for (const card of this.cards) {
        if (card.row > last || card.end + 1 < first) continue;
        for (const to of card.to) {
          if ((card === chosen || to === chosen) === isStrong) this.traceEdge(context, card, to);
        }
      }
      context.stroke();
    }
  }

  traceEdge(context, from, to) {
    const startX = from.x + Card.width / 2;
    const startY = from.y + Card.height;
    const endX = to.x + Card.width / 2;
    const half = Card.gapY / 2;
    context.moveTo(startX, startY);
    if (to.row === from.row + 1) {
      context.bezierCurveTo(startX, startY + half, endX, to.y - half, endX, to.y);
      return;
    }
    const trackX = this.lanes[from.lane].x + Card.width + Card.gapX / 2 + from.track * Card.track;
    const turnY = startY + Card.gapY;
    const backY = to.y - Card.gapY;
    context.bezierCurveTo(startX, startY + half, trackX, startY + half, trackX, turnY);
    context.lineTo(trackX, backY);
    context.bezierCurveTo(trackX, to.y - half, endX, to.y - half, endX, to.y);
  }

  paintCard(context, card) {
    const isChosen = card.layers.some((layer) => layer.index === state.chosen);
    const isFound = !state.found || card.layers.some((layer) => state.found.has(layer.index));
    context.globalAlpha = isFound ? 1 : 0.28;
    context.beginPath();
    context.roundRect(card.x, card.y, Card.width, Card.height, card.layers.length ? 7 : 20);
    context.fillStyle = colours.card;
    context.fill();
    if (card.layers.length) {
      this.paintFill(context, card);
    }
    context.lineWidth = isChosen ? 2.5 : 1;
    context.strokeStyle = isChosen ? colours.accent : colours["card-line"];
    const isPart = card.layers.length === 1 && "runs_in" in card.layers[0];
    context.setLineDash(isPart ? [4, 3] : []);
    context.beginPath();
    context.roundRect(card.x, card.y, Card.width, Card.height, card.layers.length ? 7 : 20);
    context.stroke();
    context.setLineDash([]);
    if (card.block) { // a pile of cards
      context.beginPath();
      context.moveTo(card.x + 6, card.y + Card.height + 3);
      context.lineTo(card.x + Card.width - 6, card.y + Card.height + 3);
      context.stroke();
    }
    if (this.scale > 0.38) this.paintText(context, card);
    context.globalAlpha = 1;
  }

  paintFill(context, card) {
    context.fillStyle = paintOf(card.layers);
    if (state.paint === "share" || state.paint === "change") {
      context.fill();
      return;
    }
    context.save(); // colours of kinds as a stripe
    context.clip();
    context.fillRect(card.x, card.y, this.scale > 0.38 ? 8 : Card.width, Card.height);
    context.restore();
  }

  paintText(context, card) {
    const ms = timeOf(card.layers);
    const left = card.x + 14;
    const room = Card.width - 26;
    let title = card.title;
    let line = card.line;
    let right = "";
    if (card.layers.length) {
      const layer = card.layers[0];
      title = card.block ? `Block ${card.block.number} of ${card.block.count}` : layer.type;
      line = card.block ? `${card.block.length} layers from ${layer.index}` : layer.label;
      right = "runs_in" in layer && !card.block ? "fused" : ms > 0 ? msText(ms) : "";
    }
    context.textBaseline = "middle";
    context.font = "600 12px system-ui, sans-serif";
    context.fillStyle = colours.text;
    const rightWidth = right ? context.measureText(right).width + 8 : 0;
    context.textAlign = "right";
    if (right) context.fillText(right, card.x + Card.width - 11, card.y + 15);
    context.textAlign = "left";
    context.fillText(clip(context, title, room - rightWidth), left, card.y + 15);
    context.font = "11px system-ui, sans-serif";
    context.globalAlpha *= 0.82;
    context.fillText(clip(context, line, room), left, card.y + 31);
  }

  // All rows at the right edge, with the part in view.
  paintOverview(context) {
    const height = this.viewHeight;
    const x = this.viewWidth - 12;
    context.fillStyle = colours.panel;
    context.fillRect(x, 0, 12, height);
    const step = Math.max(1, Math.floor(this.rows.length / (height * 2)));
    for (let row = 0; row < this.rows.length; row += step) {
      let layers = [];
      for (let i = row; i < Math.min(row + step, this.rows.length); ++i) {
        for (const card of this.rows[i]) layers = layers.concat(card.layers);
      }
      if (!layers.length) continue;
      context.fillStyle = paintOf(layers, step);
      context.fillRect(x, row / this.rows.length * height, 12, Math.max(1, step / this.rows.length * height));
    }
    const pitch = Card.height + Card.gapY;
    const all = this.rows.length * pitch;
    const top = Math.max(0, this.y / all * height);
    const span = Math.min(height - top, this.viewHeight / this.scale / all * height);
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.strokeRect(x + 1, top + 1, 10, Math.max(span - 2, 4));
  }

  cardAt(px, py) {
    const x = px / this.scale + this.x;
    const y = py / this.scale + this.y;
    const row = this.rows[Math.floor(y / (Card.height + Card.gapY))] || [];
    return row.find((card) => x >= card.x && x <= card.x + Card.width && y >= card.y && y <= card.y + Card.height) || null;
  }

  boxAt(px, py) {
    const x = px / this.scale + this.x;
    const y = py / this.scale + this.y;
    return this.boxes.find((box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) || null;
  }

  listen() {
    const canvas = this.canvas;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [px, py] = place(event);
      if (event.ctrlKey || event.metaKey) {
        this.zoom(Math.exp(-event.deltaY / 240), px, py);
        return;
      }
      this.x += event.deltaX / this.scale;
      this.y += event.deltaY / this.scale;
      this.keepInView();
      this.draw();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, place(event));
      this.moved = this.pointers.size > 1;
      const [px, py] = place(event);
      this.isOverview = px > this.viewWidth - 14;
      if (this.isOverview) this.jump(py);
    });
    canvas.addEventListener("pointermove", (event) => this.move(event, place(event)));
    canvas.addEventListener("pointerup", (event) => {
      this.pointers.delete(event.pointerId);
      canvas.classList.remove("drag");
      if (!this.moved && !this.isOverview) this.click(...place(event));
    });
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("dblclick", (event) => {
      const box = this.boxAt(...place(event));
      if (box) this.toggle(box.block);
    });
    canvas.addEventListener("keydown", (event) => this.press(event));
  }

  jump(py) {
    const all = this.rows.length * (Card.height + Card.gapY);
    this.y = py / this.viewHeight * all - this.viewHeight / this.scale / 2;
    this.keepInView();
    this.draw();
  }

  move(event, [px, py]) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const card = this.cardAt(px, py);
      if (card && card.layers.length && px < this.viewWidth - 14) showTip(event, describeCard(card));
      else hideTip();
      return;
    }
    if (this.isOverview) {
      this.jump(py);
      return;
    }
    if (this.pointers.size === 1) {
      if (Math.hypot(px - before[0], py - before[1]) < 3 && !this.moved) return;
      this.x -= (px - before[0]) / this.scale;
      this.y -= (py - before[1]) / this.scale;
      this.canvas.classList.add("drag");
      this.keepInView();
    } else {
      const [id] = [...this.pointers.keys()].filter((key) => key !== event.pointerId);
      const [ox, oy] = this.pointers.get(id);
      this.zoom(Math.hypot(px - ox, py - oy) / Math.max(Math.hypot(before[0] - ox, before[1] - oy), 1), ox, oy);
    }
    this.moved = true;
    this.pointers.set(event.pointerId, [px, py]);
    this.draw();
  }

  click(px, py) {
    const card = this.cardAt(px, py);
    if (!card || !card.layers.length) return;
    if (card.block) {
      this.toggle(card.block);
      return;
    }
    this.choose(card.layers[0].index);
  }

  press(event) {
    const keys = { "+": () => this.zoom(1.25, this.viewWidth / 2, this.viewHeight / 2),
      "=": () => this.zoom(1.25, this.viewWidth / 2, this.viewHeight / 2),
      "-": () => this.zoom(0.8, this.viewWidth / 2, this.viewHeight / 2),
      "0": () => this.fit(),
      ArrowDown: () => this.step(1), ArrowUp: () => this.step(-1),
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      Enter: () => this.toggleChosen() };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  step(by) {
    this.choose(Math.min(Math.max(state.chosen + by, 0), this.profile.layers.length - 1));
  }

  toggleChosen() {
    const at = this.outer.findIndex((layer) => layer.index === state.chosen);
    const block = this.blocks.find((b) => at >= b.first && at < b.first + b.length);
    if (block) {
      this.toggle(block);
      this.reveal(state.chosen);
    }
  }
}

// As much of a text as fits.
function clip(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? text.slice(0, low) + "…" : "";
}
