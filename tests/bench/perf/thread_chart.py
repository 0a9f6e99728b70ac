# SPDX-License-Identifier: Apache-2.0
"""An SVG image of speed-ups by threads or callers: a thin line for each model, a thick one for the mean, a panel for each
engine."""
import html

from perf.table import HEADINGS, geometric_mean

PANEL, PLOT, MARGIN = 330, 260, 45
STYLE = """<style>
text { font: 12px sans-serif; fill: #444 } .title { font-weight: bold } .model { stroke: #9bb8d3; stroke-width: 1 }
.mean { stroke: #1f5f99; stroke-width: 3 } .ideal { stroke: #aaa; stroke-dasharray: 4 4 } .axis { stroke: #ccc }
polyline { fill: none } rect { fill: white }
</style>
"""


def speed_ups(times):
    """Points (threads, speed-up over the smallest number of threads) of {threads: milliseconds}; callers alike."""
    first = min(times)
    return [(threads, first * times[first] / time) for threads, time in sorted(times.items())]


def panel(left, engine, lines, counts, unit):
    most = max(counts)

    def point(threads, value):
        return f"{left + MARGIN + PLOT * threads / most:.1f},{MARGIN + PLOT * (1 - value / most):.1f}"

    def line(points, kind, name):
        joined = " ".join(point(*p) for p in points)
        return f'<polyline class="{kind}" points="{joined}"><title>{html.escape(name)}</title></polyline>\n'

    text = f'<text class="title" x="{left + MARGIN}" y="{MARGIN - 20}">{html.escape(HEADINGS[engine])}</text>\n'
    for count in counts:
        x, y = point(count, 0).split(",")
        text += f'<line class="axis" x1="{x}" y1="{y}" x2="{x}" y2="{MARGIN}"/>\n'
        text += f'<text x="{x}" y="{float(y) + 16}" text-anchor="middle">{count}</text>\n'
        x, y = point(0, count).split(",")
        text += f'<line class="axis" x1="{x}" y1="{y}" x2="{left + MARGIN + PLOT}" y2="{y}"/>\n'
        text += f'<text x="{float(x) - 6}" y="{float(y) + 4}" text-anchor="end">{count}</text>\n'
    text += f'<text x="{left + MARGIN + PLOT / 2}" y="{MARGIN + PLOT + 34}" text-anchor="middle">{unit}</text>\n'
    text += line([(min(counts), min(counts)), (most, most)], "ideal", f"as many times as {unit}")
    for name, points in lines.items():
        text += line(points, "model", f"{name}: " + ", ".join(f"{value:.2f} on {threads}" for threads, value in points))
    means = [(count, geometric_mean([value for points in lines.values() for threads, value in points
                                     if threads == count])) for count in counts]
    return text + line([mean for mean in means if mean[1]], "mean", "geometric mean")


def chart(figures, engines, counts, unit="threads"):
    """`figures`: {model: {engine: {threads: milliseconds}}}; of callers, the milliseconds by which one follows another."""
    panels = ""
    for i, engine in enumerate(engines):
        lines = {name: speed_ups(times[engine]) for name, times in figures.items() if times.get(engine)}
        panels += panel(i * PANEL, engine, lines, counts, unit)
    width, height = PANEL * len(engines), PLOT + 2 * MARGIN
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">\n{STYLE}'
            f'<rect width="{width}" height="{height}"/>\n{panels}</svg>\n')
