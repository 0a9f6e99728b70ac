# SPDX-License-Identifier: Apache-2.0
"""The table and the chart of batches.py: figures of models by (batch, engine)."""
import html

from perf.document import Place
from perf.engines import DELEGATE, PEERS
from perf.measure import ratio
from perf.table import HEADINGS, number, refusals, rows_of

PLACE = Place("batches.py")
# The chart has a panel for each model, with a group of bars for each batch.
BAR, GAP, HEIGHT, MARGIN, LINE = 14, 12, 110, 40, 16
COLORS = ["#1f5f99", "#d98e3f", "#6aa56a", "#9b6fb0", "#8c8c8c"]


def throughput(batch, figures):
    """Inferences a second; None where there are none."""
    return 1000 * batch / figures.median("rounds") if figures.rounds else None


def beside_faster_peer(figures, batch):
    """Tenon's time by that of the peer which takes less; None without both."""
    mine = figures.get((batch, "tenon"))
    values = [ratio(mine, known) for (other, engine), known in figures.items()
              if other == batch and engine in PEERS and engine != DELEGATE]
    return max((value for value in values if value is not None), default=None)


def beside_first_batch(figures, batch, engine):
    """The time of one inference by that in the smallest batch."""
    first = min(other for other, _ in figures)
    value = ratio(figures[batch, engine], figures[first, engine])
    return None if value is None else value * first / batch


def table_of(results, engines):
    rows = [["model", "batch", *(f"{HEADINGS[e]}, {what}" for e in engines
                                 for what in ("ms", "inferences/s", "time of one by batch 1")),
             *(["Tenon by the faster peer"] if "tenon" in engines else [])]]
    for name, figures in results.items():
        for batch in sorted({batch for batch, _ in figures}):
            row = [name, str(batch)]
            for engine in engines:
                known = figures[batch, engine]
                row += [number(known.median("rounds")) if not known.error else "refused",
                        number(throughput(batch, known)), number(beside_first_batch(figures, batch, engine))]
            rows.append(row + ([number(beside_faster_peer(figures, batch))] if "tenon" in engines else []))
    return rows_of(rows)


def panel(top, name, figures, engines):
    """Bars of inferences a second, and the width that they take."""
    values = {key: throughput(key[0], known) for key, known in figures.items()}
    most = max((value for value in values.values() if value), default=1)
    text = f'<text class="title" x="{MARGIN}" y="{top + LINE}">{html.escape(name)}</text>\n'
    left, base = MARGIN, top + LINE + HEIGHT
    for batch in sorted({batch for batch, _ in figures}):
        middle = left + BAR * len(engines) / 2
        text += f'<text x="{middle:g}" y="{base + LINE}" text-anchor="middle">{batch}</text>\n'
        for i, engine in enumerate(engines):
            value = values[batch, engine] or 0
            height = (HEIGHT - LINE) * value / most
            text += f'<rect class="bar" x="{left}" y="{base - height:.1f}" width="{BAR - 1}" height="{height:.1f}" ' \
                    f'fill="{COLORS[i % len(COLORS)]}"><title>{HEADINGS[engine]}, batch {batch}: ' \
                    f'{number(value or None)} inferences/s</title></rect>\n'
            left += BAR
        left += GAP
    return text, left


def chart(results, engines):
    """An SVG image of inferences a second. `results`: {model: {(batch, engine): Figures}}."""
    step = HEIGHT + 3 * LINE
    panels, right = "", 0
    for i, (name, figures) in enumerate(results.items()):
        text, end = panel(i // 2 * step, name, figures, engines)
        panels += f'<g transform="translate({i % 2 * (end + MARGIN)} 0)">\n{text}</g>\n'
        right = max(right, end)
    top = (len(results) + 1) // 2 * step + LINE
    for i, engine in enumerate(engines):
        panels += f'<rect x="{MARGIN}" y="{top - 10 + i * LINE}" width="10" height="10" ' \
                  f'fill="{COLORS[i % len(COLORS)]}"/>\n' \
                  f'<text x="{MARGIN + LINE}" y="{top + i * LINE}">{html.escape(HEADINGS[engine])}</text>\n'
    width, height = 2 * (right + MARGIN), top + len(engines) * LINE
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">\n<style>\n'
            'text { font: 12px sans-serif; fill: #444 } .title { font-weight: bold } .page { fill: white }\n</style>\n'
            f'<rect class="page" width="{width}" height="{height}"/>\n{panels}</svg>\n')


def section(head, results, engines):
    """The lines of the document."""
    errors = [(f"{name} with batch {batch}", HEADINGS[engine], known.error)
              for name, figures in results.items() for (batch, engine), known in figures.items() if known.error]
    return head + table_of(results, engines) + refusals(errors).replace("\n## ", "\n### ", 1)
