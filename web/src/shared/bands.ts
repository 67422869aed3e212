// A row of coloured stretches for each flow: what held it back at each instant.
import uPlot from "uplot";
import { type Chart, type Linked, options } from "./chart";
import { colour, element } from "./dom";
import { firstFrom } from "./thin";
import type { Bands } from "./view";

const ROW = 26;
/** Longer names do not fit beside the row: they stand in it. */
const MOST_LETTERS = 7;

interface Row {
  number: number;
  count: number;
  paints: string[];
}

export function bands(
  host: HTMLElement,
  first: Bands,
  columns: Float64Array[],
  linked: Linked,
): Chart {
  let told = first;
  let { x, rows } = numbers(told, columns);
  const key = element("ul", { class: "key" });
  keyOf(key, told, rows);
  const holder = element("div", { class: "canvas", "aria-hidden": "true" });
  host.append(key, holder);
  const setup = options(linked, host.clientWidth || 600, rows.length * ROW + 34);
  setup.axes = [
    setup.axes?.[0] ?? {},
    {
      ...setup.axes?.[1],
      grid: { show: false },
      ticks: { show: false },
      splits: () => rows.map((_, row) => rows.length - row - 0.5),
      values: () => rows.map((row) => (row.name.length > MOST_LETTERS ? "" : row.name)),
    },
  ];
  setup.padding = [4, null, null, null];
  setup.scales = { ...setup.scales, y: { range: () => [0, rows.length] } };
  setup.series = [{}, { show: true, stroke: "transparent", points: { show: false } }];
  setup.hooks = {
    ...setup.hooks,
    draw: [
      (plot) => {
        const paints = told.colours.map((each) => colour(`b${each}`));
        for (const [number, row] of rows.entries()) {
          drawRow(plot, x, row.codes, { number, count: rows.length, paints });
          if (row.name.length > MOST_LETTERS) drawName(plot, row.name, number, rows.length);
        }
      },
    ],
  };
  const plot = new uPlot(
    setup,
    [
      [0, linked.end],
      [null, null],
    ],
    holder,
  );
  const word = (row: { codes: Float64Array }, time: number) =>
    told.words[row.codes[Math.max(0, firstFrom(x, time) - 1)] ?? -1] ?? "nothing";
  return {
    host,
    plot,
    update(view, fresh, end) {
      told = view.bands ?? told;
      ({ x, rows } = numbers(told, fresh));
      keyOf(key, told, rows);
      const ends: uPlot.AlignedData = [
        [0, end],
        [null, null],
      ];
      plot.setData(ends, false);
    },
    show: (from, to) => plot.setScale("x", { min: from, max: to }),
    at: (time) =>
      `${told.title}: ${rows.map((row) => (rows.length > 1 ? `${row.name} ` : "") + word(row, time)).join(", ")}`,
  };
}

function numbers(told: Bands, columns: Float64Array[]) {
  const column = (place: number) => columns[place] ?? new Float64Array();
  return {
    x: column(told.x),
    rows: told.rows.map((row) => ({ name: row.name, codes: column(row.codes) })),
  };
}

function keyOf(key: HTMLElement, told: Bands, rows: { codes: Float64Array }[]): void {
  const used = new Set(rows.flatMap((row) => [...new Set(row.codes)]));
  const items = told.words.flatMap((word, code) => {
    const style = `background: var(--b${told.colours[code]})`;
    return used.has(code) ? [element("li", {}, element("i", { class: "block", style }), word)] : [];
  });
  key.replaceChildren(...items);
}

function drawName(plot: uPlot, name: string, number: number, count: number): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const middle = bbox.top + ((number + 0.5) * bbox.height) / count;
  ctx.save();
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const wide = ctx.measureText(name).width + 8 * ratio;
  ctx.fillStyle = colour("paper");
  ctx.globalAlpha = 0.85;
  ctx.fillRect(bbox.left + 3 * ratio, middle - 8 * ratio, wide, 16 * ratio);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colour("ink");
  ctx.fillText(name, bbox.left + 7 * ratio, middle);
  ctx.restore();
}

/** Narrow columns, each parted by how long each word stood in it; a long stretch fills its columns. */
function drawRow(plot: uPlot, x: Float64Array, codes: Float64Array, row: Row): void {
  const { ctx, bbox } = plot;
  const { min = 0, max = 1 } = plot.scales.x as { min?: number; max?: number };
  const tall = bbox.height / row.count;
  const top = bbox.top + row.number * tall + 1;
  const wide = Math.max(1, Math.round(2 * devicePixelRatio));
  const columns = Math.ceil(bbox.width / wide);
  const step = (max - min) / columns;
  ctx.save();
  let at = Math.max(0, firstFrom(x, min) - 1);
  for (let column = 0; column < columns; column++) {
    const end = min + (column + 1) * step;
    const times = new Float64Array(row.paints.length);
    let before = min + column * step;
    while (at < x.length && (x[at] ?? 0) <= end) {
      const until = Math.min(end, x[at + 1] ?? end);
      const code = codes[at] ?? Number.NaN;
      if (!Number.isNaN(code) && until > before && (x[at] ?? 0) < end) {
        times[code] = (times[code] ?? 0) + until - Math.max(before, x[at] ?? 0);
      }
      before = Math.max(before, until);
      if ((x[at + 1] ?? Number.POSITIVE_INFINITY) > end) break;
      at++;
    }
    let down = 0;
    for (const [code, time] of times.entries()) {
      const height = ((tall - 2) * time) / step;
      ctx.fillStyle = row.paints[code] ?? "";
      if (height > 0) ctx.fillRect(bbox.left + column * wide, top + down, wide, height);
      down += height;
    }
  }
  ctx.restore();
}
