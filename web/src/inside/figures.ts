// The numbers by which variants are compared, and their lines: as python/tidegate/_run/summary.py,
// _run/completion.py and _compare/view.py have them. A test compares the two.
import type { Cloud, Line, View } from "../shared/view";
import { allMissing, together } from "./arrays";
import { type History, history } from "./history";
import { mainGate, type Recording, type Row, type Summary } from "./recording";
import { Builder, Instants, line } from "./view";

export interface Variant {
  name: string;
  run: Recording;
}

const REQUESTS = [
  "response_mean_s",
  "response_p50_s",
  "response_p95_s",
  "response_p99_s",
  "response_mean_with_unfinished_s",
  "finished",
  "unfinished",
];
/** What each number is called, where % is the compared gate, and its divisor. */
export type Metrics = Record<string, [label: string, divisor: number]>;

/** The first variant's main gate that every variant has; null where there is none. */
export function commonGate(summaries: Summary[]): string | null {
  const has = (summary: Summary, name: string) => summary.gates.some((row) => row.name === name);
  const candidates = summaries.map(mainGate).filter((name) => name !== null);
  return candidates.find((name) => summaries.every((summary) => has(summary, name))) ?? null;
}

export function figures(summary: Summary, gate: string | null): Row {
  const { flows } = summary;
  const row = summary.gates.find((each) => each.name === gate) ?? {};
  const goodputs = measured(flows, "goodput_bps").map((flow) => Number(flow.goodput_bps));
  const sum = (values: number[]) => values.reduce((all, each) => all + each, 0);
  const squares = sum(goodputs.map((each) => each * each));
  const finite = transfers(flows);
  const found: Row = {
    goodput_bps: totalGoodput(summary),
    fairness: squares ? sum(goodputs) ** 2 / (goodputs.length * squares) : null,
    queue_delay_p50_ms: row.queue_delay_p50_ms ?? null,
    queue_delay_p99_ms: row.queue_delay_p99_ms ?? null,
    loss: row.loss ?? null,
    utilisation: row.utilisation ?? null,
    segments_retransmitted: sum(flows.map((flow) => Number(flow.segments_retransmitted))),
    timeouts: sum(flows.map((flow) => Number(flow.timeouts))),
    completion_s: completion(flows),
  };
  if (finite.length) found.progress = Math.min(...finite.map((flow) => Number(flow.progress)));
  const requests = summary.requests?.find((each) => each.name === "all");
  if (requests) for (const name of REQUESTS) found[name] = requests[name] ?? null;
  return found;
}

/** The flows of which time was measured. */
const measured = (flows: Row[], key: string) =>
  flows.filter((flow) => typeof flow[key] === "number");

const transfers = (flows: Row[]) => flows.filter((flow) => typeof flow.progress === "number");

/** The time that the slowest transfer took; null where one is not done. */
export function completion(flows: Row[]): number | null {
  const finite = transfers(flows);
  const ends = (finite.length ? finite : flows).map((flow) => flow.completion_s ?? null);
  const open = finite.length > 0 && ends.includes(null);
  const done = ends.filter((end) => end !== null) as number[];
  return open || !done.length ? null : Math.max(...done);
}

/** The goodput (or another rate) of all flows together; see `total_goodput` in Python. */
export function totalGoodput(
  summary: Pick<Summary, "flows" | "measured_from_s" | "duration_s">,
  key = "goodput_bps",
): number | null {
  const { measured_from_s: begin, duration_s: end } = summary;
  const flows = measured(summary.flows, key);
  if (!flows.length) return null;
  const done = flows.filter(
    (row) => typeof row.progress === "number" && typeof row.completion_s === "number",
  );
  const rate = (row: Row) => Number(row[key]);
  if (!done.length || flows.length === 1) return flows.reduce((sum, row) => sum + rate(row), 0);
  const start = (row: Row) => Number(row.start_s);
  const ended = new Map(done.map((row) => [row.name, start(row) + Number(row.completion_s)]));
  const allDone = done.length === flows.length;
  const first = allDone ? Math.max(begin, Math.min(...flows.map(start))) : begin;
  const last = allDone ? Math.max(...ended.values()) : end;
  return flows.reduce((sum, row) => {
    const own = ended.get(row.name);
    const counts = own === undefined ? end - begin : Math.max(0, own - Math.max(begin, start(row)));
    return sum + rate(row) * (counts / (last - first));
  }, 0);
}

/** Columns of background traffic that all variants have: traffic.NAME.delay_p99_ms. */
function trafficColumns(summaries: Summary[]): string[] {
  const groups = summaries.map((each) => (each.traffic_groups ?? []).map((row) => row.name));
  const common = (groups[0] ?? []).filter((name) => groups.every((names) => names.includes(name)));
  return common.map((name) => `traffic.${name}.delay_p99_ms`);
}

function ofTraffic(summary: Summary, column: string): unknown {
  const name = column.slice("traffic.".length, -".delay_p99_ms".length);
  const rows = [...(summary.traffic ?? []), ...(summary.traffic_groups ?? [])];
  return rows.find((row) => row.name === name)?.delay_p99_ms ?? null;
}

export class Compared {
  readonly gate: string | null;
  readonly rows: Row[];
  private readonly summaries: Summary[];

  constructor(
    readonly variants: Variant[],
    private readonly metrics: Metrics,
  ) {
    this.summaries = variants.map((each) => each.run.summary);
    this.gate = commonGate(this.summaries);
    const more = trafficColumns(this.summaries);
    this.rows = variants.map(({ name, run }) => {
      const chosen = Object.fromEntries(more.map((key) => [key, ofTraffic(run.summary, key)]));
      return { scenario: name, ...figures(run.summary, this.gateOf(run.summary)), ...chosen };
    });
  }

  private gateOf(summary: Summary): string | null {
    return this.gate ?? mainGate(summary);
  }

  private get place(): string {
    if (this.gate !== null) return `gate ${this.gate}`;
    const own = this.summaries.map((each) => this.gateOf(each)).filter((name) => name !== null);
    return own.length ? `gates ${[...new Set(own)].join(", ")}` : "no gate in common";
  }

  view(): View {
    const data = this.variants.map(({ run }) => history(run, this.gateOf(run.summary)));
    const times = data.flatMap((each) => [...each.time.values(), each.gateTime]);
    const instants = new Instants(times, 5 * data.length);
    const builder = new Builder(
      Math.max(...data.map((each) => each.duration)),
      Math.min(...data.map((each) => each.begin)),
    );
    const x = builder.column(instants.at);
    const panel = (
      [id, title, unit]: [string, string, string],
      values: (each: History) => Float64Array | null,
      from: Line["from"] = "numbers",
    ) => {
      const lines = data.flatMap((each, place) => {
        const found = values(each);
        const name = this.variants[place]?.name ?? "";
        return found ? [line(name, builder.column(found), place, { from })] : [];
      });
      builder.panel({ id, title, unit, x, lines });
    };
    const atGate = (each: History, values: Float64Array) =>
      allMissing(values) ? null : instants.values(each.gateTime, values);
    const ofFlows = (each: History, columns: Map<string, Float64Array>) =>
      together(
        each.names.map((name) =>
          instants.values(
            each.time.get(name) ?? new Float64Array(),
            columns.get(name) ?? new Float64Array(),
          ),
        ),
        instants.at.length,
      );
    const all = data.every((each) => each.names.length === 1) ? "" : ", all flows together";
    panel(
      ["rate", `Goodput${all}`, "Mbit/s"],
      (each) => (each.names.length ? ofFlows(each, each.delivered) : null),
      "count",
    );
    panel(["wait", `Wait at ${this.place}`, "ms"], (each) => atGate(each, each.wait));
    const unit = data[0]?.queueUnit ?? "packets";
    panel(["queue", `Queue at ${this.place}`, unit], (each) => atGate(each, each.queue));
    if (data.every((each) => each.names.length))
      panel(["cwnd", `Congestion window${all}`, "segments"], (each) => ofFlows(each, each.cwnd));
    return builder.view;
  }

  cloud(): Cloud | null {
    const has = (row: Row, name: string) => typeof row[name] === "number";
    const names = Object.keys(this.rows[0] ?? {}).filter(
      (name) => name !== "scenario" && this.rows.some((row) => has(row, name)),
    );
    if (names.length < 2 || !names.includes("goodput_bps")) return null;
    const delays = ["queue_delay_p99_ms", "completion_s", "loss"];
    const delay = delays.find((name) => names.includes(name)) ?? names[names.length - 1] ?? "";
    const factor = (name: string) => this.metrics[name]?.[1] ?? 1;
    return {
      metrics: names.map((name) => ({ name, label: this.label(name) })),
      x: names.indexOf(delay),
      y: names.indexOf("goodput_bps"),
      points: this.rows.map((row) => ({
        label: String(row.scenario),
        values: names.map((name) =>
          has(row, name) ? [Number(row[name]) / factor(name), null, null] : null,
        ),
      })),
    };
  }

  private label(name: string): string {
    const source = /^traffic\.(.+)\.delay_p99_ms$/.exec(name)?.[1];
    if (source) return `delay of ${source === "all" ? "all traffic" : source}, 99th percentile, ms`;
    const gate = this.gate === null ? "" : ` at gate ${this.gate}`;
    return (this.metrics[name]?.[0] ?? name).replace(" at gate %", gate);
  }
}
