// What is drawn of a run over time: the same panels, lines and columns as python/tidegate/_run/view.py makes
// for reports, from the same recorded columns. A test compares the two on every example.
import { number } from "../shared/number";
import type { Line, Marks, Panel, View } from "../shared/view";
import { allMissing, none, steps, together } from "./arrays";
import { underWay, waitsOf } from "./held";
import { type History, history } from "./history";
import type { Recording } from "./recording";

/** Flows that have lines of their own. */
const SHOWN = 8;
/** Idle paths that have lines; more are not told apart. */
const PATHS = 3;
/** Instants at most, and numbers of all lines together at most. */
const [MOST, ALL] = [100_000, 3_000_000];
const POLICED =
  " A policer keeps no queue: it holds the sender back by the window that its drops made small.";
const NOTE =
  "While data of the flow is under way: the gate on its way with the longest wait, if " +
  "packets wait there. Else what kept the sender from sending more.";
/** Numbers of colours of the sender's words and of gates. */
const HELD_COLOURS = [2, 1, 4, 3, 7];
const GATE_COLOURS = [0, 5, 6, 7];

/** The instants that the lines of a page share, and what columns stand at there. */
export class Instants {
  readonly at: Float64Array;
  /** Whether lines were recorded more finely. */
  readonly coarser: boolean;

  constructor(times: Float64Array[], lines: number) {
    const every = union(times);
    const most = Math.max(2000, Math.min(MOST, Math.floor(ALL / Math.max(1, lines))));
    this.coarser = every.length > most;
    this.at = this.coarser ? steps(every[0] ?? 0, every[every.length - 1] ?? 0, most) : every;
  }

  /** Each sample holds until the next one; before the first there is nothing. */
  values(time: Float64Array, column: Float64Array): Float64Array {
    if (time.length === this.at.length && time.every((at, place) => at === this.at[place]))
      return column;
    let place = -1;
    return this.at.map((at) => {
      while (place + 1 < time.length && (time[place + 1] ?? 0) <= at) place++;
      return place < 0 ? Number.NaN : (column[place] ?? Number.NaN);
    });
  }
}

function union(times: Float64Array[]): Float64Array {
  const [first, ...others] = times.toSorted((a, b) => b.length - a.length);
  if (!first) return none;
  const more = others.filter(
    (each) => each.length !== first.length || each.some((at, place) => at !== first[place]),
  );
  if (!more.length) return first.slice();
  const all = new Float64Array(more.reduce((sum, each) => sum + each.length, first.length));
  let end = 0;
  for (const each of [first, ...more]) {
    all.set(each, end);
    end += each.length;
  }
  all.sort();
  return all.filter((at, place) => place === 0 || at !== all[place - 1]);
}

/** Panels over one time axis, and the columns that they show. */
export class Builder {
  readonly view: View;

  constructor(end: number, begin: number) {
    this.view = { end, from: begin, notes: [], panels: [], bands: null, columns: [] };
  }

  column(values: Float64Array): number {
    this.view.columns.push(values);
    return this.view.columns.length - 1;
  }

  panel(panel: Omit<Panel, "marks" | "top"> & { top?: number; marks?: Marks[] }): void {
    if (panel.lines.length) this.view.panels.push({ top: null, marks: [], ...panel });
  }
}

export function line(name: string, y: number, colour = 0, more: Partial<Line> = {}): Line {
  return { name, y, colour, look: "line", from: "numbers", fit: true, ...more };
}

export function runView(run: Recording, gate: string | null = null): View {
  const drawn = new Drawn(run, history(run, gate));
  return drawn.builder.view;
}

/** The round trips of flows' idle paths, ms, each with the flows that have it: told in the same digits. */
function idlePaths(data: History, names: string[]): { path: number; names: string[] }[] {
  const found = new Map<string, { path: number; names: string[] }>();
  for (const name of names) {
    const path = data.pathRtt.get(name);
    if (path === undefined) continue;
    const of = found.get(number(path)) ?? { path, names: [] };
    of.names.push(name);
    found.set(number(path), of);
  }
  return [...found.values()];
}

class Drawn {
  readonly builder: Builder;
  private readonly names: string[];
  private readonly instants: Instants;
  private readonly x: number;

  constructor(
    private readonly run: Recording,
    private readonly data: History,
  ) {
    this.names = data.names.slice(0, SHOWN);
    const times = [...data.time.values(), data.gateTime];
    this.instants = new Instants(times, 5 * this.names.length + 6);
    this.builder = new Builder(data.duration, data.begin);
    this.x = this.builder.column(this.instants.at);
    this.bands();
    this.rates();
    this.windows();
    this.delays();
    this.queue();
    this.bucket();
    this.notes();
  }

  private flow(name: string, values: Float64Array | undefined): number {
    return this.builder.column(this.ofFlow(name, values));
  }

  private ofFlow(name: string, values: Float64Array | undefined): Float64Array {
    return this.instants.values(this.data.time.get(name) ?? none, values ?? none);
  }

  private gate(values: Float64Array): number {
    return this.builder.column(this.instants.values(this.data.gateTime, values));
  }

  private level(value: number): number {
    return this.builder.column(new Float64Array(this.instants.at.length).fill(value));
  }

  private panel(id: string, title: string, unit: string, lines: Line[], more = {}): void {
    this.builder.panel({ id, title, unit, x: this.x, lines, ...more });
  }

  private windows(): void {
    const { data, names } = this;
    const lines = names.map((name, place) =>
      line(name, this.flow(name, data.cwnd.get(name)), place),
    );
    const [only] = names;
    if (names.length === 1 && only !== undefined && lines[0]) {
      lines[0].name = "cwnd";
      const limit = data.ssthresh.get(only) ?? none;
      // An initial threshold far above every window would flatten what there is to see.
      if (!allMissing(limit))
        lines.push(line("ssthresh", this.flow(only, limit), 7, { look: "dash", fit: false }));
    }
    this.panel("cwnd", "Congestion window", "segments", lines);
  }

  private rates(): void {
    const { data, names } = this;
    const lines: Line[] = [];
    if (data.gateTime.length && !allMissing(data.rate) && data.contractBps === null) {
      const word = data.hasBucket ? "token rate" : "rate in force";
      const rate = this.gate(data.rate.map((each) => each / 1e6));
      lines.push(line(`${word} at ${data.gate}`, rate, 7, { look: "fill", from: "mean" }));
    }
    if (data.contractBps) {
      const level = this.level(data.contractBps / 1e6);
      lines.push(line(`contract at ${data.gate}`, level, 7, { look: "dash", from: "mean" }));
    }
    if (data.names.length > SHOWN) {
      const every = data.names.map((name) => this.ofFlow(name, data.delivered.get(name)));
      const total = this.builder.column(together(every, this.instants.at.length));
      lines.push(line(`${data.names.length} flows together`, total, 0, { from: "count" }));
    } else {
      names.forEach((name, place) => {
        const count = this.flow(name, data.delivered.get(name));
        lines.push(line(name, count, place, { from: "count" }));
      });
    }
    const marks = this.marks();
    const more = { top: data.topBps / 1e6, marks };
    this.panel("rate", "Goodput and rate", "Mbit/s", lines, more);
  }

  private marks(): Marks[] {
    const told: [string, Float64Array, string][] = [
      ["packets dropped", this.data.drops, "drop"],
      ["time-outs", this.data.timeouts, "c3"],
      ["fast retransmits", this.data.fast, "again"],
    ];
    return told
      .filter(([, times]) => times.length)
      .map(([name, times, colour]) => {
        return { name, count: times.length, at: this.builder.column(few(times)), colour };
      });
  }

  private delays(): void {
    const { data } = this;
    const lines = this.names.flatMap((name, place) => {
      const rtt = data.rtt.get(name);
      return rtt ? [line(name, this.flow(name, rtt), place)] : [];
    });
    if (lines.length === 1 && lines[0]) lines[0].name = "round trip in TCP";
    const title = lines.length > 1 ? "Delay: round trips in TCP" : "Delay";
    const paths = idlePaths(data, this.names);
    for (const { path, names } of paths.length <= PATHS ? paths : []) {
      const more = names.length > 2 ? ", …" : "";
      const of = paths.length === 1 ? "" : `: ${names.slice(0, 2).join(", ")}${more}`;
      const single = names.length === 1 && this.names.length > 1;
      const colour = single ? this.names.indexOf(names[0] ?? "") : 6;
      lines.push(line(`path, idle${of}`, this.level(path), colour, { look: "dash" }));
    }
    if (data.wait.length && !allMissing(data.wait)) {
      const wait = this.gate(data.wait);
      lines.push(line(`wait at ${data.gate}`, wait, title === "Delay" ? 1 : 7));
    }
    this.panel("delay", title, "ms", lines);
  }

  private queue(): void {
    const { data } = this;
    if (!data.queue.length || allMissing(data.queue)) return;
    const lines = [line("queue", this.gate(data.queue))];
    if (data.queueLimit !== null) {
      const level = this.level(data.queueLimit);
      let most = 0;
      for (const each of data.queue) if (each > most) most = each;
      const fit = data.queueLimit < 3 * most;
      lines.push(line("limit", level, 7, { look: "dash", fit }));
    }
    this.panel("queue", `Queue at ${data.gate}`, data.queueUnit, lines);
  }

  private bucket(): void {
    const { data } = this;
    if (!data.tokens.length) return;
    const tokens = line("tokens", this.gate(data.tokens), 2);
    this.panel("tokens", `Bucket at ${data.gate}`, "bytes", [tokens]);
  }

  /** For each flow and instant: which gate's queue held its data or, without one, what held the sender. */
  private bands(): void {
    const held = this.names.filter((name) => this.run.flows.get(name)?.held_by);
    if (!held.length) return;
    const words = [...(this.run.words.flows?.held_by ?? [])];
    const senders = words.length;
    const waits = new Map(
      [...this.run.gates].map(([name, part]) => {
        const wait = this.instants.values(part.time_s ?? none, waitsOf(part));
        return [name, wait.map((each) => each || 0)];
      }),
    );
    const rows = held.map((name) => {
      const part = this.run.flows.get(name) ?? {};
      const codes = this.ofFlow(name, part.held_by).slice();
      const moving = this.ofFlow(name, underWay(part));
      const passed = (this.run.paths[name]?.path ?? []).filter((gate) => waits.has(gate));
      const longest = codes.map((_, at) =>
        Math.max(0, ...passed.map((gate) => waits.get(gate)?.[at] ?? 0)),
      );
      for (const gate of passed) {
        const word = `queue of ${gate}`;
        if (!words.includes(word)) words.push(word);
        const code = words.indexOf(word);
        const wait = waits.get(gate) ?? none;
        codes.forEach((here, at) => {
          const most = longest[at] ?? 0;
          const held = most > 0 && wait[at] === most && (moving[at] ?? 0) > 0;
          if (held && !Number.isNaN(here)) codes[at] = code;
        });
      }
      return { name, codes: this.builder.column(codes) };
    });
    const policed = this.run.summary.gates.some((gate) => "contract_bps" in gate);
    this.builder.view.bands = {
      title: rows.length > 1 ? "What held each flow back" : "What held the flow back",
      note: NOTE + (policed ? POLICED : ""),
      x: this.x,
      words,
      colours: words.map((_, place) =>
        place < senders ? (HELD_COLOURS[place] ?? 0) : (GATE_COLOURS[(place - senders) % 4] ?? 0),
      ),
      rows,
    };
  }

  private notes(): void {
    const { notes } = this.builder.view;
    const all = this.data.names.length;
    if (all > SHOWN) notes.push(`Lines of the first ${SHOWN} of ${all} flows.`);
    if (this.instants.coarser) {
      const count = this.instants.at.length.toLocaleString("en");
      notes.push(`The run recorded more: lines are drawn from ${count} instants of it.`);
    }
  }
}

/** What can be told apart of many instants. */
function few(times: Float64Array): Float64Array {
  const count = 20_000;
  if (times.length <= count) return times;
  return steps(0, times.length - 1, count).map((at) => times[Math.floor(at)] ?? 0);
}
