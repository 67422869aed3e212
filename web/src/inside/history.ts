// What pictures need of a run, in arrays: as python/tidegate/_run/history.py takes it from the same columns.
import {
  allMissing,
  binnedMean,
  binnedRate,
  differences,
  edgesFor,
  known,
  most,
  none,
  quantile,
  together,
} from "./arrays";
import { type Columns, mainGate, type Recording } from "./recording";

export interface History {
  duration: number;
  begin: number;
  names: string[];
  time: Map<string, Float64Array>;
  cwnd: Map<string, Float64Array>;
  ssthresh: Map<string, Float64Array>;
  delivered: Map<string, Float64Array>;
  rtt: Map<string, Float64Array>;
  /** The round trip of each flow's path while nothing waits there, ms. */
  pathRtt: Map<string, number>;
  gate: string | null;
  gateTime: Float64Array;
  rate: Float64Array;
  queue: Float64Array;
  queueUnit: "packets" | "bytes" | "cells";
  queueLimit: number | null;
  wait: Float64Array;
  tokens: Float64Array;
  hasBucket: boolean;
  contractBps: number | null;
  /** When packets were dropped, at whatever gate that the flows pass. */
  drops: Float64Array;
  timeouts: Float64Array;
  fast: Float64Array;
  /** The end of a scale for rates and goodput. */
  topBps: number;
}

export function history(run: Recording, gate: string | null = null): History {
  const { summary } = run;
  const shown = gate ?? mainGate(summary);
  const names = summary.flows.map((row) => String(row.name)).filter((name) => run.flows.has(name));
  const of = (key: string) =>
    new Map(names.map((name) => [name, run.flows.get(name)?.[key] ?? none]));
  const time = of("time_s");
  const part: Columns = (shown !== null ? run.gates.get(shown) : undefined) ?? {};
  const law = shown !== null ? run.laws[shown] : undefined;
  const row = summary.gates.find((each) => each.name === shown) ?? {};
  const queueUnit =
    "queue_max_cells" in row ? "cells" : law?.queue_limit?.unit === "bytes" ? "bytes" : "packets";
  const gateTime = part.time_s ?? none;
  const rate = part.rate_bps ?? none;
  const tokens = part.tokens ?? none;
  const limit = law?.queue_limit;
  const delivered = of("delivered_bytes");
  const passes = (name: string) => shown === null || run.paths[name]?.path.includes(shown);
  const passing = names.filter(passes);
  const throughGroups = new Set(Object.keys(run.paths).filter(passes).map(groupOf));
  const groups = [...run.groups].filter(
    ([name]) => throughGroups.has(name) && !passing.includes(name),
  );
  const times = [
    ...time.values(),
    ...[...run.groups.values()].map((group) => group.time_s ?? none),
  ];
  const longest = times.reduce((a, b) => (b.length > a.length ? b : a), none);
  const edges = edgesFor(summary.duration_s, times.length ? longest : gateTime);
  const carried = binnedRate(gateTime, part.delivered_bytes ?? none, edges);
  const recorded = [
    ...passing.map((name) => run.flows.get(name) ?? {}),
    ...groups.map(([, group]) => group),
  ];
  const goodputs = recorded.map((columns: Columns) =>
    binnedRate(columns.time_s ?? none, columns.delivered_bytes ?? none, edges),
  );
  return {
    duration: summary.duration_s,
    begin: summary.measured_from_s,
    names,
    time,
    cwnd: of("cwnd_segments"),
    ssthresh: of("ssthresh_segments"),
    delivered,
    rtt: delays(run, names),
    pathRtt: new Map(
      summary.flows.flatMap((flow) =>
        typeof flow.rtt_path_ms === "number" ? [[String(flow.name), flow.rtt_path_ms]] : [],
      ),
    ),
    gate: shown,
    gateTime,
    rate,
    queue: part[`queue_${queueUnit}`] ?? none,
    queueUnit,
    queueLimit: limit && limit.unit === queueUnit ? limit.count : null,
    wait: part.wait_ms ?? none,
    tokens: allMissing(tokens) ? none : tokens,
    hasBucket: Boolean(law?.token_bucket),
    contractBps: law?.contract?.rate_bps ?? null,
    drops: dropped(run, shown, names),
    timeouts: run.marks.get("timeout") ?? none,
    fast: run.marks.get("fast retransmit") ?? none,
    topBps: topOf(law, carried, gateTime.length ? binnedMean(gateTime, rate, edges) : none, {
      goodput: together(goodputs, edges.length - 1),
      any: goodputs.length > 0,
    }),
  };
}

/** The flow whose copy this is: `user` for `user.17`. */
function groupOf(name: string): string {
  return name.split(".", 1)[0] ?? name;
}

/** The rate law sets the scale, not spikes; see `History.top_bps` in Python. */
function topOf(
  law: Recording["laws"][string] | undefined,
  carried: Float64Array,
  rates: Float64Array,
  all: { goodput: Float64Array; any: boolean },
): number {
  const usual = carried.length ? quantile(carried, 0.98) : 0;
  const { contract, token_bucket: bucket } = law ?? {};
  if (contract?.rate_bps)
    return 1.25 * Math.max(contract.rate_bps, Math.min(usual, contract.peak_bps || usual));
  if (bucket?.rate_bps)
    return 1.15 * Math.max(bucket.rate_bps, Math.min(usual, bucket.peak_bps || usual));
  const able = Math.max(most(known(rates), 0), most(known(carried), 0));
  const top = all.any ? most(all.goodput, 1) : 1;
  return able > 0 && top > 1.18 * able
    ? Math.min(1.06 * top, 1.25 * able)
    : 1.06 * Math.max(top, able);
}

/** Round trips of each flow, the newest one's or the smoothed one. */
function delays(run: Recording, names: string[]): Map<string, Float64Array> {
  for (const column of ["rtt_ms", "srtt_ms"]) {
    if (names.every((name) => run.flows.get(name)?.[column])) {
      return new Map(names.map((name) => [name, fresh(run.flows.get(name) ?? {}, column)]));
    }
  }
  return new Map();
}

/** A delay with gaps where it is the last one of a flow that stands still for twice as long. */
function fresh(part: Columns, column: string): Float64Array {
  const value = part[column] ?? none;
  const time = part.time_s ?? none;
  const bytes = part.delivered_bytes ?? none;
  if (value.length < 3) return value;
  const step = 3 * quantile(differences(time), 0.5);
  let moved = time[0] ?? 0;
  return value.map((delay, row) => {
    if (row > 0) {
      const change = delay - (value[row - 1] ?? 0);
      // A gap that begins or ends is a change too, as numpy compares what is no number.
      if ((bytes[row] ?? 0) > (bytes[row - 1] ?? 0) || change !== 0) moved = time[row] ?? 0;
    }
    return (time[row] ?? 0) - moved > 2e-3 * delay + step ? Number.NaN : delay;
  });
}

function dropped(run: Recording, shown: string | null, flows: string[]): Float64Array {
  const gates = new Set(shown !== null ? [shown] : []);
  for (const flow of flows) {
    for (const gate of [...(run.paths[flow]?.path ?? []), ...(run.paths[flow]?.back ?? [])])
      gates.add(gate);
  }
  const all = [...gates].flatMap((gate) => [...(run.drops.get(gate) ?? [])]);
  return Float64Array.from(all).sort();
}
