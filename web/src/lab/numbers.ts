// The tables of the laboratory: which numbers they show, and how.
import { element, told } from "../shared/dom";

export type Row = Record<string, unknown>;
/** A column that is shown: name, heading, unit, divisor. */
export type Shown = [string, string, string, number];

export const FLOWS: Shown[] = [
  ["goodput_bps", "goodput", "Mbit/s", 1e6],
  ["rtt_p50_ms", "RTT p50", "ms", 1],
  ["rtt_p99_ms", "RTT p99", "ms", 1],
  ["loss", "loss", "%", 0.01],
  ["segments_retransmitted", "resent", "segments", 1],
  ["timeouts", "time-outs", "", 1],
  ["cwnd_mean_segments", "mean cwnd", "segments", 1],
  ["completion_s", "done after", "s", 1],
];
export const GATES: Shown[] = [
  ["rate_mean_bps", "rate", "Mbit/s", 1e6],
  ["utilisation", "used", "%", 0.01],
  ["loss", "loss", "%", 0.01],
  ["dropped_packets", "dropped", "packets", 1],
  ["dropped_cells", "dropped", "cells", 1],
  ["queue_mean_packets", "mean queue", "packets", 1],
  ["queue_delay_p50_ms", "wait p50", "ms", 1],
  ["queue_delay_p99_ms", "wait p99", "ms", 1],
];
export const TRAFFIC: Shown[] = [
  ["throughput_bps", "throughput", "Mbit/s", 1e6],
  ["loss", "loss", "%", 0.01],
  ["delay_p50_ms", "delay p50", "ms", 1],
  ["delay_p99_ms", "delay p99", "ms", 1],
  ["interarrival_jitter_ms", "jitter", "ms", 1],
  ["media_frames_late", "frames late", "", 1],
];
export const REQUESTS: Shown[] = [
  ["finished", "finished", "requests", 1],
  ["unfinished", "unfinished", "requests", 1],
  ["response_p50_s", "response p50", "s", 1],
  ["response_p95_s", "p95", "s", 1],
  ["response_p99_s", "p99", "s", 1],
];
export const POOLS: Shown[] = [
  ["capacity_bps", "capacity", "Mbit/s", 1e6],
  ["utilisation", "reserved", "%", 0.01],
  ["calls_offered", "calls", "", 1],
  ["calls_blocked", "blocked", "%", 0.01],
  ["call_wait_p99_s", "wait p99", "s", 1],
];
export const VARIANTS: Shown[] = [
  ["goodput_bps", "goodput", "Mbit/s", 1e6],
  ["fairness", "fairness", "", 1],
  ["queue_delay_p50_ms", "wait p50", "ms", 1],
  ["queue_delay_p99_ms", "wait p99", "ms", 1],
  ["loss", "loss", "%", 0.01],
  ["utilisation", "used", "%", 0.01],
  ["timeouts", "time-outs", "", 1],
  ["completion_s", "done after", "s", 1],
];
const MOST_ROWS = 12;

/** A table where there is something to tell. */
export function others(what: string, rows: Row[] | undefined, columns: Shown[]): HTMLElement[] {
  return rows?.length ? [table(what, rows, columns)] : [];
}

/** Columns of a comparison that are of background traffic: traffic.NAME.delay_p99_ms. */
export function ofTraffic(rows: Row[]): Shown[] {
  return Object.keys(rows[0] ?? {}).flatMap((key) => {
    const name = /^traffic\.(.+)\.delay_p99_ms$/.exec(key)?.[1];
    return name ? [[key, `${name}: delay p99`, "ms", 1] as Shown] : [];
  });
}

export function table(what: string, rows: Row[], columns: Shown[]): HTMLElement {
  const there = columns.filter(([key]) => rows.some((row) => typeof row[key] === "number"));
  const name = what === "scenario" ? what : "name";
  const head = element(
    "tr",
    {},
    element("th", { class: "text", scope: "col" }, what === "scenario" ? "variant" : what),
  );
  for (const [, words, unit] of there) {
    head.append(
      element("th", { scope: "col" }, words, ...(unit ? [element("small", {}, unit)] : [])),
    );
  }
  const body = element("tbody");
  for (const row of rows.slice(0, MOST_ROWS)) {
    const line = element("tr", {}, element("td", { class: "text" }, String(row[name] ?? "")));
    for (const [key, , , factor] of there) {
      const value = row[key];
      const known = typeof value === "number";
      const cell = { "data-key": key, "data-value": known ? value : "" };
      line.append(element("td", cell, known ? told(value / factor) : "–"));
    }
    body.append(line);
  }
  const grid = element("table", { class: "grid" }, element("thead", {}, head), body);
  const box = element(
    "div",
    { class: "wide", tabindex: "0", role: "group", "aria-label": `Numbers of each ${what}` },
    grid,
  );
  if (rows.length > MOST_ROWS)
    box.append(element("p", { class: "where" }, `The first ${MOST_ROWS} of ${rows.length}.`));
  return box;
}
