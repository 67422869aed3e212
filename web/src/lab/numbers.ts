// The tables of the laboratory: which numbers they show. Digits and units are those of `tidegate run`.
import { completion, totalGoodput } from "../inside/figures";
import type { Summary } from "../inside/recording";
import { element } from "../shared/dom";
import { number, percent, rateScale, whole } from "../shared/number";
import { MOST_ROWS } from "../shared/view";

export type Row = Record<string, unknown>;
/** How a number is written: a rate in the table's unit, a share in per cent, a count, or with three digits. */
type Kind = "rate" | "percent" | "count" | "number";
/** A column that is shown. */
export interface Shown {
  key: string;
  words: string;
  kind: Kind;
  /** Of a number or a count; a rate and a share have their own. */
  unit?: string;
  digits?: number;
  /** What is shown of a row; left out, what it has under the key. */
  of?: (row: Row) => unknown;
  /** What stands where there is no number. */
  instead?: (row: Row) => string | null;
}

const column = (key: string, words: string, kind: Kind, more: Partial<Shown> = {}): Shown => ({
  key,
  words,
  kind,
  ...more,
});
const LOSS = column("loss", "loss", "percent", { digits: 2 });
/** The share of a transfer that had arrived when the run ended: "(62%)". */
function arrived({ progress }: Row): string | null {
  if (typeof progress !== "number") return null;
  return `(${percent(progress < 1 ? Math.min(progress, 0.99) : 1, 2)}%)`;
}

const USED = column("utilisation", "used", "percent");
const DONE = column("completion_s", "done", "number", { unit: "s", instead: arrived });
const ms = (key: string, words: string) => column(key, words, "number", { unit: "ms" });
const seconds = (key: string, words: string) => column(key, words, "number", { unit: "s" });

const share = (part: string, all: string) => (row: Row) =>
  Number(row[all]) > 0 ? Number(row[part]) / Number(row[all]) : null;

export const FLOWS: Shown[] = [
  column("goodput_bps", "goodput", "rate"),
  column("throughput_bps", "throughput", "rate"),
  ms("rtt_path_ms", "path"),
  ms("rtt_p50_ms", "RTT p50"),
  ms("rtt_p99_ms", "RTT p99"),
  column("resent", "resent", "percent", {
    digits: 2,
    of: share("segments_retransmitted", "segments_sent"),
  }),
  column("timeouts", "timeouts", "count"),
  column("cwnd_mean_segments", "cwnd", "number", { unit: "segm." }),
  DONE,
];
const PEAK = "bucket_peak_bps";
/** Of a token bucket the rate of its tokens, as `gate_rates` in python/tidegate/_run/police_text.py. */
const lineRate = (row: Row) => row.bucket_bps ?? row.rate_mean_bps;
export const GATES: Shown[] = [
  column("rate_bps", "rate", "rate", {
    of: (row) => (row.limit_bps === row.contract_bps ? row.contract_bps : lineRate(row)),
  }),
  column("line_bps", "line", "rate", {
    of: (row) => ("contract_bps" in row ? lineRate(row) : null),
  }),
  column(PEAK, "peak", "rate", { of: (row) => row[PEAK] }),
  USED,
  LOSS,
  column("dropped_cells", "dropped", "count", { unit: "cells" }),
  column("dropped_packets", "dropped", "count", { unit: "packets" }),
  column("queue_mean_packets", "queue", "number", { unit: "packets" }),
  column("queue_mean_cells", "queue", "number", { unit: "cells" }),
  ms("queue_delay_p50_ms", "wait p50"),
  ms("queue_delay_p99_ms", "wait p99"),
];
export const TRAFFIC: Shown[] = [
  column("throughput_bps", "arrived", "rate"),
  column("loss", "lost", "percent", { digits: 2 }),
  ms("delay_p50_ms", "delay p50"),
  ms("delay_p99_ms", "delay p99"),
  ms("interarrival_jitter_ms", "jitter"),
  column("late", "frames late", "percent", {
    digits: 2,
    of: share("media_frames_late", "media_frames_sent"),
  }),
];
export const REQUESTS: Shown[] = [
  column("finished", "finished", "count"),
  column("unfinished", "unfinished", "count"),
  seconds("response_p50_s", "response p50"),
  seconds("response_p95_s", "p95"),
  seconds("response_p99_s", "p99"),
];
export const POOLS: Shown[] = [
  column("capacity_bps", "capacity", "rate"),
  USED,
  column("calls_offered", "calls", "count"),
  column("calls_blocked", "blocked", "percent", { digits: 2 }),
  seconds("call_wait_p99_s", "wait p99"),
];
const VARIANTS: Shown[] = [
  column("goodput_bps", "goodput", "rate"),
  ms("queue_delay_p50_ms", "wait p50"),
  ms("queue_delay_p99_ms", "wait p99"),
  LOSS,
  USED,
  column("timeouts", "timeouts", "count"),
  column("fairness", "fairness", "number", { unit: "Jain" }),
  { ...DONE, digits: 4 },
  seconds("response_mean_s", "response mean"),
  seconds("response_p95_s", "p95"),
];
/** The columns of variants with so many flows each, as `comparison_lines` in python/tidegate/_compare/text.py chooses them. */
export function ofVariants(rows: Row[], flows: number[]): Shown[] {
  // Who asks more gets more: its share says nothing of the network.
  const asks = rows.some((row) => typeof row.response_mean_s === "number");
  const shares = !asks && flows.some((count) => count > 1);
  return VARIANTS.filter(({ key }) => shares || key !== "fairness");
}

export interface Written {
  head: [words: string, unit: string][];
  rows: { name: string; cells: { key: string; value: number | null; text: string }[] }[];
}

/** What a table shows, written out. */
export function written(rows: Row[], columns: Shown[], name = "name"): Written {
  const value = (row: Row, { key, of }: Shown) => {
    const found = of ? of(row) : row[key];
    return typeof found === "number" ? found : null;
  };
  const there = columns.filter((each) =>
    rows.some((row) => value(row, each) !== null || each.instead?.(row)),
  );
  const top = rows.flatMap((row) =>
    // A peak stands beside the rate, however large it is.
    there
      .filter(({ kind, key }) => kind === "rate" && key !== PEAK)
      .map((each) => value(row, each) ?? 0),
  );
  const [factor, unit] = rateScale(Math.max(0, ...top));
  const text = (found: number | null, { kind, digits = 3 }: Shown) => {
    if (kind === "rate") return number(found === null ? null : found / factor);
    if (kind === "percent") return percent(found, digits);
    return kind === "count" ? whole(found) : number(found, digits);
  };
  return {
    head: there.map((each) => [
      each.words,
      { rate: unit, percent: "%" }[each.kind as string] ?? each.unit ?? "",
    ]),
    rows: rows.map((row) => ({
      name: String(row[name] ?? ""),
      cells: there.map((each) => {
        const found = value(row, each);
        // What a row does not have at all, as that of all flows together, is no gap.
        const none = !each.of && !(each.key in row);
        const words = found === null ? each.instead?.(row) : null;
        return { key: each.key, value: found, text: words ?? (none ? "" : text(found, each)) };
      }),
    })),
  };
}

/** The flows with the highest goodput, and all of them together. */
export function ofFlows(summary: Summary): Row[] {
  const { flows } = summary;
  const goodput = (row: Row) => Number(row.goodput_bps ?? 0);
  const shown =
    flows.length > MOST_ROWS ? flows.toSorted((a, b) => goodput(b) - goodput(a)) : flows;
  if (flows.length < 2) return shown;
  const sum = (key: string) => flows.reduce((all, row) => all + Number(row[key] ?? 0), 0);
  const all = {
    name: `all ${flows.length}`,
    goodput_bps: totalGoodput(summary),
    throughput_bps: totalGoodput(summary, "throughput_bps"),
    completion_s: completion(flows),
    ...Object.fromEntries(
      ["segments_retransmitted", "segments_sent", "timeouts"].map((key) => [key, sum(key)]),
    ),
  };
  // Copies of a flow together, where they have no lines of their own and are not all flows.
  const groups = (summary.flow_groups ?? []).filter((row) => Number(row.flows) < flows.length);
  const some = flows.length > MOST_ROWS ? groups.slice(0, MOST_ROWS) : [];
  const copies = some.map((row) => ({ ...row, name: `${row.name}.1–${row.flows}` }));
  return [...shown.slice(0, MOST_ROWS), ...copies, all];
}

/** Gates that count packets, and those that count cells; of many, those with the longest queues. */
export function ofGates(gates: Row[]): { rows: Row[]; all: number }[] {
  const inCells = (row: Row) => "queue_max_cells" in row;
  return ["packets", "cells"].flatMap((unit) => {
    const rows = gates.filter((row) => inCells(row) === (unit === "cells"));
    const queue = (row: Row) => Number(row[`queue_mean_${unit}`] ?? 0);
    const longest = () => rows.toSorted((a, b) => queue(b) - queue(a)).slice(0, MOST_ROWS);
    const shown = rows.length > MOST_ROWS ? longest() : rows;
    return rows.length ? [{ rows: shown, all: rows.length }] : [];
  });
}

/** Traffic, requests or pools: which rows and columns they have, and which are told of very many. */
export interface Others {
  what: string;
  rows: Row[];
  all: number;
  columns: Shown[];
  which: string;
}

/** The tables beside those of flows and gates, where there is something to tell. */
export function ofOthers(summary: Summary): Others[] {
  const { traffic_groups: traffic = [], requests = [], pools = [] } = summary;
  const rate = (row: Row) => Number(row.throughput_bps ?? 0);
  const slow = (row: Row) => Number(row.response_mean_s ?? 0);
  const busiest = (rows: Row[]) => {
    const most = rows.toSorted((a, b) => rate(b) - rate(a)).slice(0, MOST_ROWS);
    return rows.filter((row) => most.includes(row));
  };
  const slowest = (rows: Row[]) =>
    rows.length > MOST_ROWS ? rows.toSorted((a, b) => slow(b) - slow(a)).slice(0, MOST_ROWS) : rows;
  const told = (what: string, rows: Row[], shown: Row[], columns: Shown[], which: string) => ({
    what,
    rows: shown,
    all: rows.length,
    columns,
    which,
  });
  return [
    told("traffic", traffic, withAll(traffic, busiest), TRAFFIC, "with the highest rates"),
    told("requests", requests, withAll(requests, slowest), REQUESTS, "that are slowest"),
    told("pool", pools, pools.slice(0, MOST_ROWS), POOLS, "that come first"),
  ].filter((each) => each.rows.length);
}

/** Some rows, and the last one, which is all of them, where there are several. */
function withAll(rows: Row[], some: (rows: Row[]) => Row[]): Row[] {
  const [several, all] = [rows.slice(0, -1), rows.slice(-1)];
  return several.length > 1 ? [...some(several), ...all] : several;
}

/** Columns of a comparison that are of background traffic: traffic.NAME.delay_p99_ms. */
export function ofTraffic(rows: Row[]): Shown[] {
  return Object.keys(rows[0] ?? {}).flatMap((key) => {
    const name = /^traffic\.(.+)\.delay_p99_ms$/.exec(key)?.[1];
    return name ? [ms(key, `${name}: delay p99`)] : [];
  });
}

/** A table; `all`: how many there are of which these are some. */
export function table(
  what: string,
  rows: Row[],
  columns: Shown[],
  all = 0,
  which?: string,
): HTMLElement {
  const of = what === "scenario" ? "variant" : what;
  const { head, rows: lines } = written(rows, columns, what === "scenario" ? what : "name");
  const box = grid(of, head, lines);
  if (all > MOST_ROWS + (which ? 1 : 0)) {
    const most =
      which ?? (what === "flow" ? "with the highest goodput" : "with the longest queues");
    const words = `The ${MOST_ROWS} ${what === "requests" || what === "traffic" ? "rows" : `${what}s`} ${most} of ${all}.`;
    box.append(element("p", { class: "where" }, words));
  }
  return box;
}

interface Line {
  name: string;
  cells: { key?: string; value?: number | null; text: string }[];
}

/** Cells that are written out, in a box that scrolls where they do not fit. */
export function grid(what: string, head: Written["head"], lines: Line[]): HTMLElement {
  const top = element("tr", {}, element("th", { class: "text", scope: "col" }, what));
  for (const [words, unit] of head) {
    top.append(
      element("th", { scope: "col" }, words, ...(unit ? [element("small", {}, unit)] : [])),
    );
  }
  const body = element("tbody");
  for (const { name, cells } of lines) {
    const line = element("tr", {}, element("td", { class: "text" }, name));
    for (const { key, value, text } of cells)
      line.append(element("td", key ? { "data-key": key, "data-value": value ?? "" } : {}, text));
    body.append(line);
  }
  return element(
    "div",
    { class: "wide", tabindex: "0", role: "group", "aria-label": `Numbers of each ${what}` },
    element("table", { class: "grid" }, element("thead", {}, top), body),
  );
}
