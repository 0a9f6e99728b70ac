"use strict";
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const worst = JSON.parse(document.getElementById("worst").textContent);
  const page = document.getElementById("page");
  const SVG = "http://www.w3.org/2000/svg";

  // An element with attributes and content; text is never taken for HTML.
  function make(name, attributes = {}, ...content) {
    const isSvg = ["svg", "line", "path", "rect", "text"].includes(name);
    const element = isSvg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") element.addEventListener("click", value);
      else element.setAttribute(key, value);
    }
    element.append(...content.filter((part) => part !== null && part !== undefined));
    return element;
  }

  const percent = (share, digits = 1) => (share < 0 ? "–" : (100 * share).toFixed(digits) + " %");
  const figure = (value) => (value < 0 ? "–" : value.toFixed(3));

  function tile(value, name) {
    return make("div", { class: "tile" }, make("b", {}, value), make("span", { class: "soft" }, name));
  }

  function card(title, ...content) {
    return make("section", { class: "card" }, make("h2", {}, title), ...content);
  }

  // columns: name, value for sorting, text; the column with isBar is drawn.
  function table(columns, rows, sortBy) {
    const body = make("tbody");
    let column = columns[sortBy];
    let ascending = true;
    function fill() {
      const sorted = rows.slice().sort((a, b) => {
        const x = column.value(a), y = column.value(b);
        const order = typeof x === "string" ? x.localeCompare(y) : x - y;
        return ascending ? order : -order;
      });
      body.replaceChildren(...sorted.map((row) => make("tr", {}, ...columns.map((each) =>
        each.isBar
          ? make("td", { class: "bar" }, make("i", { style: `width:${Math.max(0, 100 * each.value(row))}%` }))
          : make("td", { title: each.text(row), class: each.isText ? "text" : "" }, each.text(row))))));
    }
    const head = make("tr", {}, ...columns.map((each) => make("th", { scope: "col", class: each.isText ? "text" : "" }, make("button", {
      onclick: () => { ascending = column === each ? !ascending : true; column = each; fill(); },
    }, each.name))));
    fill();
    return make("div", { class: "scroll", tabindex: "0" }, make("table", {}, make("thead", {}, head), body));
  }

  // Charts are as wide as their place, so that their texts have one size.
  const chartWidth = Math.max(240, Math.min(560, innerWidth - 72));

  // Bars of shares with their names below.
  function barChart(values, nameOf, label) {
    const width = chartWidth, height = 240, left = 40, bottom = 26, top = 18;
    const step = (width - left) / values.length;
    const y = (share) => top + (1 - share) * (height - top - bottom);
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(make("line", { class: "grid", x1: left, x2: width, y1: y(share), y2: y(share) }),
        make("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, (100 * share).toFixed(0)));
    }
    values.forEach((share, i) => {
      const x = left + i * step;
      svg.append(make("rect", { class: "fill", x: x + step * 0.15, width: step * 0.7, y: y(share), height: y(0) - y(share) }));
      if (step >= 42) {
        svg.append(make("text", { class: "value", x: x + step / 2, y: y(share) - 4, "text-anchor": "middle" }, (100 * share).toFixed(1)));
      }
      if (i % Math.ceil(24 / step) === 0) {
        svg.append(make("text", { x: x + step / 2, y: height - 8, "text-anchor": "middle" }, nameOf(i)));
      }
    });
    return svg;
  }

  function curveChart(precision) {
    const width = chartWidth, height = 280, left = 40, bottom = 36, top = 12, right = 12;
    const x = (share) => left + share * (width - left - right);
    const y = (share) => top + (1 - share) * (height - top - bottom);
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "precision by recall" });
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(make("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }),
        make("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, share.toString()),
        make("text", { x: x(share), y: height - 18, "text-anchor": "middle" }, share.toString()));
    }
    const points = precision.map((value, i) => `${x(i / (precision.length - 1)).toFixed(1)},${y(value).toFixed(1)}`);
    svg.append(make("path", { class: "curve", d: "M" + points.join("L") }),
      make("text", { x: (left + width) / 2, y: height - 3, "text-anchor": "middle" }, "recall"));
    return svg;
  }

  // The share of each class found for each right class: numbers for few classes, a picture for many.
  function confusionMatrix() {
    const names = new Map(report.classes.map((each) => [each.class, each.name]));
    for (const each of report.confusions) if (!names.has(each.class)) names.set(each.class, each.name);
    const classes = [...names.keys()].sort((a, b) => a - b);
    const place = new Map(classes.map((each, i) => [each, i]));
    const count = classes.length;
    const sums = new Array(count).fill(0);
    for (const each of report.confusions) sums[place.get(each.truth)] += each.count;
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const few = count <= 24;
    if (few) {
      const cells = new Map(report.confusions.map((each) => [place.get(each.truth) * count + place.get(each.class), each.count]));
      const grid = make("div", { class: "matrix few", style: `max-width: ${110 + 56 * count}px; grid-template-columns: fit-content(110px) repeat(${count}, minmax(0, 1fr))` });
      const head = (each, side) => make("div", { class: "head " + side, title: names.get(each) }, names.get(each));
      const isShort = classes.every((each) => names.get(each).length <= 3);
      grid.append(make("div", { class: "head" }), ...classes.map((each) => head(each, isShort ? "short" : "top")));
      for (let row = 0; row < count; ++row) {
        grid.append(head(classes[row], "left"));
        for (let column = 0; column < count; ++column) {
          const value = cells.get(row * count + column) || 0;
          const share = sums[row] ? value / sums[row] : 0;
          const colour = row === column ? "44, 138, 87" : "196, 71, 58";
          const opacity = value ? 0.15 + 0.85 * share : 0.03;
          const isInk = opacity > 0.55;
          grid.append(make("div", {
            style: `background: rgba(${colour}, ${opacity.toFixed(3)});${isInk ? " color: #fff" : ""}`,
            title: `${names.get(classes[row])} taken for ${names.get(classes[column])}: ${value} of ${sums[row]} (${percent(share)})`,
          }, value && count <= 12 && report.task === "classification" ? String(value) : value && count <= 12 ? (100 * share).toFixed(0) : ""));
        }
      }
      return grid;
    }
    const canvas = make("canvas", { class: "matrix", width: count, height: count, role: "img", "aria-label": "confusion matrix" });
    const context = canvas.getContext("2d");
    context.fillStyle = isDark ? "#1c2128" : "#ffffff";
    context.fillRect(0, 0, count, count);
    for (const each of report.confusions) {
      const share = each.count / sums[place.get(each.truth)];
      context.fillStyle = each.truth === each.class ? `rgba(44, 138, 87, ${0.2 + 0.8 * share})` : `rgba(196, 71, 58, ${0.35 + 0.65 * share})`;
      context.fillRect(place.get(each.class), place.get(each.truth), 1, 1);
    }
    const counts = new Map(report.confusions.map((each) => [place.get(each.truth) * count + place.get(each.class), each.count]));
    canvas.addEventListener("mousemove", (event) => {
      const column = Math.min(count - 1, Math.floor(event.offsetX * count / canvas.clientWidth));
      const row = Math.min(count - 1, Math.floor(event.offsetY * count / canvas.clientHeight));
      canvas.title = `${names.get(classes[row])} taken for ${names.get(classes[column])}: ${counts.get(row * count + column) || 0} of ${sums[row]}`;
    });
    return canvas;
  }

  function confusedPairs() {
    const names = new Map(report.classes.map((each) => [each.class, each.name]));
    const pairs = report.confusions.filter((each) => each.truth !== each.class)
      .map((each) => ({ truth: names.get(each.truth) ?? String(each.truth), found: each.name, count: each.count }))
      .sort((a, b) => b.count - a.count).slice(0, 100);
    if (pairs.length === 0) return make("p", { class: "soft" }, "No class was taken for another one.");
    return table([
      { name: "class", value: (row) => row.truth, text: (row) => row.truth, isText: true },
      { name: "taken for", value: (row) => row.found, text: (row) => row.found, isText: true },
      { name: report.task === "classification" ? "pictures" : "pixels", value: (row) => -row.count, text: (row) => String(row.count) },
    ], pairs, 2);
  }

  function boxes(each) {
    const svg = make("svg", { viewBox: `0 0 ${each.width} ${each.height}`, preserveAspectRatio: "none" });
    for (const box of each.drawn) {
      const rect = make("rect", { class: box.kind, x: box.box[0], y: box.box[1], width: box.box[2], height: box.box[3] });
      const title = document.createElementNS(SVG, "title");
      title.textContent = `${box.name}${box.score === undefined ? "" : " " + box.score.toFixed(3)} (${box.kind})`;
      rect.append(title);
      svg.append(rect);
    }
    return svg;
  }

  function caption(each) {
    if (each.best) {
      const scores = make("div", { class: "scores" });
      for (const best of each.best.slice(0, 3)) {
        const kind = best.class === each.truth ? "right" : "false";
        scores.append(make("span", { class: kind }, best.name), make("span", {}, best.score === null ? "–" : best.score.toPrecision(4)));
      }
      return [make("div", {}, "is ", make("b", {}, each.truth_name)), scores];
    }
    if (each.drawn) {
      const wrong = each.drawn.filter((box) => box.kind === "wrong").slice(0, 4).map((box) => `${box.name} ${box.score.toFixed(2)}`);
      return [make("div", {}, `${each.found} found, ${each.missed} missed, ${each.wrong} wrong`),
        make("div", { class: "false" }, wrong.join(", "))];
    }
    return [make("div", {}, `mIoU ${each.mean_iou.toFixed(3)}, pixels ${percent(each.pixel_accuracy)}`)];
  }

  function example(each) {
    const shown = make("div", { class: "frame" });
    if (each.mask) {
      const part = (source, name) => source && make("div", {}, make("img", { src: source, alt: name }), make("span", {}, name));
      shown.append(make("div", { class: "parts" }, part(each.picture, "picture"), part(each.mask, "truth"), part(each.result, "found")));
    } else if (each.picture) {
      shown.append(make("img", { src: each.picture, alt: each.file, class: each.width < 100 ? "tiny" : "" }));
      if (each.drawn) shown.append(boxes(each));
    }
    return make("figure", {}, shown, make("figcaption", {}, make("div", { class: "soft" }, each.file), ...caption(each)));
  }

  function classification() {
    const k = report.top_k.length;
    const tiles = [tile(percent(report.top_k[0], 2), "top-1 accuracy")];
    if (k >= 5) tiles.push(tile(percent(report.top_k[4], 2), "top-5 accuracy"));
    const share = (row) => row.right / row.pictures;
    return [tiles, [
      card("Accuracy of the best k classes, in percent", barChart(report.top_k, (i) => String(i + 1), "accuracy by k")),
      card("Classes", table([
        { name: "class", value: (row) => row.name, text: (row) => row.name, isText: true },
        { name: "pictures", value: (row) => row.pictures, text: (row) => String(row.pictures) },
        { name: "right", value: share, text: (row) => percent(share(row)) },
        { name: "", value: share, isBar: true },
      ], report.classes, 2)),
      card("Confusion matrix: rows are right classes", confusionMatrix()),
      card("Confused classes", confusedPairs()),
    ]];
  }

  function detection() {
    const summary = report.summary;
    const tiles = ["AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large", "AR100"]
      .map((name) => tile(figure(summary[name]), name.replace("_", " ")));
    const found = report.categories.filter((row) => row.boxes > 0);
    return [tiles, [
      card("Precision by recall at an IoU of 0.5, mean of categories", curveChart(report.precision_at_iou_50)),
      card("Categories", table([
        { name: "category", value: (row) => row.name, text: (row) => row.name, isText: true },
        { name: "boxes", value: (row) => row.boxes, text: (row) => String(row.boxes) },
        { name: "AP", value: (row) => row.AP, text: (row) => figure(row.AP) },
        { name: "AP50", value: (row) => row.AP50, text: (row) => figure(row.AP50) },
        { name: "", value: (row) => row.AP, isBar: true },
      ], found, 2)),
    ]];
  }

  function segmentation() {
    const tiles = [tile(report.mean_iou.toFixed(4), "mIoU"), tile(percent(report.pixel_accuracy, 2), "pixel accuracy"),
      tile(percent(report.mean_class_accuracy, 2), "mean class accuracy")];
    return [tiles, [
      card("IoU of classes", table([
        { name: "class", value: (row) => row.name, text: (row) => row.name, isText: true },
        { name: "pixels", value: (row) => row.pixels, text: (row) => String(row.pixels) },
        { name: "IoU", value: (row) => row.iou, text: (row) => row.iou.toFixed(3) },
        { name: "", value: (row) => row.iou, isBar: true },
      ], report.classes, 2)),
      card("Confusion matrix: rows are right classes, in percent of their pixels", confusionMatrix()),
      card("Confused classes", confusedPairs()),
    ]];
  }

  const [tiles, cards] = { classification, detection, segmentation }[report.task]();
  tiles.push(tile(String(report.pictures - report.failed), report.failed ? `pictures, ${report.failed} failed` : "pictures"));
  page.append(make("h1", {}, `Accuracy of ${report.model.split("/").pop()}`),
    make("p", { class: "soft wide" }, `${report.task}, Tenon ${report.version}, ${report.model}`),
    make("div", { class: "tiles" }, ...tiles), make("div", { class: "cards" }, ...cards));
  if (worst.length > 0) {
    const key = (kind, text) => make("span", { class: kind }, make("i"), text);
    const keys = report.task !== "detection" ? null : make("p", { class: "key" },
      key("truth", "ground truth"), key("found", "found"), key("wrong", "wrong"), key("crowd", "crowd"));
    page.append(card(`The worst ${worst.length === 1 ? "picture" : worst.length + " pictures"}`,
      keys, make("div", { class: report.task === "segmentation" ? "pictures masks" : "pictures" }, ...worst.map(example))));
  }
})();
