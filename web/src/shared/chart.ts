// One panel over time: a uPlot chart that is given only the points that there is room for.
import uPlot from "uplot";
import { colour, element, told } from "./dom";
import { edges, means, type Row, rates, thinned } from "./thin";
import type { Line, Panel, View } from "./view";

/** What the board does with every chart. */
export interface Chart {
  readonly host: HTMLElement;
  readonly plot: uPlot;
  /** Takes other numbers of a panel or of bands that looks the same; [`show`] draws them. */
  update(view: View, columns: Float64Array[], end: number): void;
  show(from: number, to: number): void;
  /** What stands at an instant, in words. */
  at(time: number): string;
}

export interface Linked {
  key: string;
  end: number;
  /** From here on is measured; what lies before is shaded. */
  measured(): number;
  zoomed(from: number, to: number): void;
}

const HEIGHT = 190;
const DASH: Record<Line["look"], number[]> = { line: [], dash: [6, 4], fill: [] };

/** The room, the axes and the linked cursor that all charts of a board share. */
export function options(linked: Linked, width: number, height: number): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: () => colour("mid"),
    grid: { stroke: () => colour("soft"), width: 1 },
    ticks: { stroke: () => colour("soft"), width: 1, size: 4 },
    font: "12px system-ui, sans-serif",
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: {
      sync: { key: linked.key, filters: { pub: (type) => /move|leave/.test(type) } },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
    },
    scales: { x: { time: false, range: (_, min, max) => [min, max] } },
    axes: [
      { ...axis, size: 30, gap: 3, values: (_, at) => at.map((each) => `${round(each)} s`) },
      { ...axis, size: 52, gap: 3, values: (_, at) => at.map((each) => told(each)) },
    ],
    series: [{}],
    hooks: {
      drawClear: [(plot) => shadeUnmeasured(plot, linked.measured())],
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide > 3) linked.zoomed(plot.posToVal(left, "x"), plot.posToVal(left + wide, "x"));
          if (wide > 0) plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

/** What lies before the measured time counts in no number: it is shaded. */
function shadeUnmeasured(plot: uPlot, until: number): void {
  const { ctx, bbox } = plot;
  const right = Math.min(plot.valToPos(until, "x", true), bbox.left + bbox.width);
  if (!(until > 0) || right <= bbox.left) return;
  ctx.save();
  ctx.fillStyle = colour("unmeasured");
  ctx.fillRect(bbox.left, bbox.top, right - bbox.left, bbox.height);
  ctx.restore();
}

const round = (value: number) => Number(value.toPrecision(10));

/** The unit of the largest of some bytes. */
function bytes(most: number): [number, string] {
  if (most >= 1e6) return [1e6, "MB"];
  return most >= 1e3 ? [1e3, "kB"] : [1, "B"];
}

/** A number with its unit where that is chosen by size, as with bytes. */
function sized(value: number | null | undefined, unit: string): string {
  if (unit !== "bytes" || typeof value !== "number") return told(value);
  const [factor, short] = bytes(Math.abs(value));
  return `${told(value / factor)} ${short}`;
}

/** Ticks of bytes, in kB or MB: a number of seven digits has no room beside a chart on a phone. */
function ticks(at: number[]): string[] {
  const [factor, short] = bytes(Math.max(0, ...at));
  return at.map((each) => (each === 0 ? "0" : `${told(each / factor)} ${short}`));
}

export function chart(
  host: HTMLElement,
  first: Panel,
  columns: Float64Array[],
  linked: Linked,
): Chart {
  let panel = first;
  let { x, values, marks } = numbers(panel, columns);
  const binned = panel.lines.some((line) => line.from !== "numbers");
  const setup = options(linked, host.clientWidth || 600, HEIGHT);
  const shown = panel.lines.map(() => true);
  setup.series = [{}, ...panel.lines.map((line) => series(line, binned))];
  if (panel.unit === "bytes")
    setup.axes = [setup.axes?.[0] ?? {}, { ...setup.axes?.[1], values: (_, at) => ticks(at) }];
  setup.scales = { ...setup.scales, y: { range: (_, __, most) => upright(panel, most) } };
  setup.hooks = {
    ...setup.hooks,
    draw: [
      (plot) => {
        for (const [row, mark] of marks.entries()) drawMarks(plot, mark.times, mark.colour, row);
      },
    ],
  };

  function data(from: number, to: number, room: number): uPlot.AlignedData {
    if (!binned) return thinned(x, values, from, to, room);
    const bins = edges(x, from, to, 300);
    return [bins, ...panel.lines.map((line, place) => binnedLine(line, values[place], bins))];
  }
  const binnedLine = (line: Line, y: Float64Array | undefined, bins: number[]): Row =>
    line.from === "count" ? rates(x, y ?? [], bins) : means(x, y ?? [], bins);

  const key = element("ul", { class: "key" });
  const holder = element("div", { class: "canvas", "aria-hidden": "true" });
  host.append(key, holder);
  const plot = new uPlot(setup, data(0, linked.end, 400), holder);
  const outputs = keyOf(key, panel, (place) => {
    shown[place] = !shown[place];
    plot.setSeries(place + 1, { show: shown[place] ?? true });
    return shown[place] ?? true;
  });
  keyOfMarks(key, panel);
  plot.hooks.setCursor = [
    (moved) => {
      outputs.forEach((output, place) => {
        const at = moved.cursor.idxs?.[place + 1];
        output.value =
          at === null || at === undefined ? "" : sized(moved.data[place + 1]?.[at], panel.unit);
      });
    },
  ];
  return {
    host,
    plot,
    update(view, columns) {
      panel = view.panels.find((each) => each.id === panel.id) ?? panel;
      ({ x, values, marks } = numbers(panel, columns));
      keyOfMarks(key, panel);
    },
    show(from, to) {
      plot.batch(() => {
        plot.setData(data(from, to, Math.max(100, plot.width)), false);
        plot.setScale("x", { min: from, max: to });
      });
    },
    at(time) {
      const place = plot.valToIdx(time);
      const parts = panel.lines.flatMap((line, number) =>
        shown[number] ? [`${line.name} ${sized(plot.data[number + 1]?.[place], panel.unit)}`] : [],
      );
      return `${panel.title}: ${parts.join(", ")}${panel.unit === "bytes" ? "" : ` ${panel.unit}`}`;
    },
  };
}

/** The columns of a panel. */
function numbers(panel: Panel, columns: Float64Array[]) {
  const column = (place: number) => columns[place] ?? new Float64Array();
  return {
    x: column(panel.x),
    values: panel.lines.map((line) => column(line.y)),
    marks: panel.marks.map((mark) => ({ ...mark, times: column(mark.at) })),
  };
}

function keyOfMarks(key: HTMLElement, panel: Panel): void {
  for (const old of key.querySelectorAll(".tick")) old.remove();
  for (const mark of panel.marks) {
    const sign = element("i", { style: `background: var(--${mark.colour})` });
    key.append(element("li", { class: "tick" }, sign, `${mark.name}: ${mark.count}`));
  }
}

function series(line: Line, binned: boolean): uPlot.Series {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const fill = line.look === "fill";
  return {
    label: line.name,
    stroke: () => colour(fill ? "shade-line" : `c${line.colour % 8}`),
    width: fill || line.look === "dash" ? 1 : 1.6,
    dash: DASH[line.look],
    points: { show: false },
    auto: line.fit,
    ...(fill ? { fill: () => colour("shade") } : {}),
    ...(binned && stepped ? { paths: stepped } : {}),
  };
}

/** The axis begins at zero and has some room above. */
function upright(panel: Panel, most: number | null): [number, number] {
  const needed = Number.isFinite(most) ? (most ?? 1) : 1;
  return [
    0,
    panel.top !== null ? Math.min(panel.top, 1.08 * needed || panel.top) : 1.08 * needed || 1,
  ];
}

function keyOf(key: HTMLElement, panel: Panel, toggle: (place: number) => boolean) {
  return panel.lines.map((line, place) => {
    const output = element("output", { "aria-live": "off" });
    const fill = line.look === "fill";
    const paint = fill ? "shade-line" : `c${line.colour % 8}`;
    const sign = element("i", { class: line.look, style: `color: var(--${paint})` });
    const button = element(
      "button",
      {
        type: "button",
        "aria-pressed": "true",
        click: () => button.setAttribute("aria-pressed", String(toggle(place))),
      },
      sign,
      line.name,
    );
    key.append(element("li", {}, button, output));
    return output;
  });
}

/** Ticks at the top, one for each pixel in which something happened. */
function drawMarks(plot: uPlot, times: ArrayLike<number>, paint: string, row: number): void {
  const { ctx, bbox } = plot;
  const { min = 0, max = 1 } = plot.scales.x as { min?: number; max?: number };
  const scale = bbox.width / (max - min || 1);
  const [tall, ratio] = [6 * devicePixelRatio, devicePixelRatio];
  ctx.save();
  ctx.fillStyle = colour(paint);
  let before = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < times.length; at++) {
    const time = times[at] ?? 0;
    const left = bbox.left + Math.round((time - min) * scale);
    if (time >= min && time <= max && left - before >= ratio) {
      ctx.fillRect(left, bbox.top + row * (tall + 2 * ratio), Math.max(1, ratio), tall);
      before = left;
    }
  }
  ctx.restore();
}
