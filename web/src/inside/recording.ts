// What a run recorded, as arrays by flow and by gate: as python/tidegate/_run/columns.py reads the same columns.

import type { Perturbed } from "../shared/view";

export type Row = Record<string, unknown>;
export type Columns = Record<string, Float64Array>;
export type Raw = Float64Array | BigUint64Array | Uint32Array | Uint8Array | number[];

export interface Summary {
  scenario: string;
  engine: string;
  seed: number;
  duration_s: number;
  measured_from_s: number;
  flows: Row[];
  flow_groups?: Row[];
  gates: Row[];
  traffic?: Row[];
  traffic_groups?: Row[];
  requests?: Row[];
  pools?: Row[];
  perturbed?: Perturbed;
  warnings: string[];
  [other: string]: unknown;
}

export interface Way {
  path: string[];
  back: string[];
}

export interface Law {
  queue_limit: { unit: string; count: number } | null;
  token_bucket: { rate_bps: number; burst_bytes: number; peak_bps: number | null } | null;
  contract: { rate_bps: number; peak_bps: number | null } | null;
}

/** The words behind the codes of each table's columns. */
export type Words = Record<string, Record<string, string[]>>;

export interface Recording {
  summary: Summary;
  paths: Record<string, Way>;
  laws: Record<string, Law>;
  words: Words;
  flows: Map<string, Columns>;
  /** Sums and spreads of flows whose copies were recorded together, by the name of that flow. */
  groups: Map<string, Columns>;
  gates: Map<string, Columns>;
  /** When packets were dropped, by gate. */
  drops: Map<string, Float64Array>;
  /** When senders did something, by what they did. */
  marks: Map<string, Float64Array>;
}

export interface Run {
  summary: Summary;
  paths: Record<string, Way>;
  laws: Record<string, Law>;
  groups: string[];
  tables: Record<string, Record<string, Raw>>;
}

export function recording(run: Run, words: Words): Recording {
  const names = (rows: Row[]) => rows.map((row) => String(row.name));
  const { flows, groups, gates, drops, marks } = run.tables;
  const ofFlows = names(run.summary.flows);
  const ofGates = names(run.summary.gates);
  return {
    summary: run.summary,
    paths: run.paths,
    laws: run.laws,
    words,
    flows: parts(flows, "flow", ofFlows),
    groups: parts(groups, "group", run.groups),
    gates: parts(gates, "gate", ofGates),
    drops: times(drops, "gate", ofGates),
    marks: times(marks, "kind", words.marks?.kind ?? []),
  };
}

/** The rows of each flow or gate that has any, by its name. */
function parts(
  table: Record<string, Raw> | undefined,
  column: string,
  names: string[],
): Map<string, Columns> {
  const found = new Map<string, Columns>();
  if (!table) return found;
  const places = placesOf(table[column] ?? [], names.length);
  names.forEach((name, number) => {
    const rows = places[number] ?? [];
    if (!rows.length) return;
    const own: Columns = {};
    for (const [key, values] of Object.entries(table)) {
      if (key !== column) own[key] = picked(values, rows);
    }
    found.set(name, own);
  });
  return found;
}

function times(
  table: Record<string, Raw> | undefined,
  column: string,
  names: string[],
): Map<string, Float64Array> {
  const places = placesOf(table?.[column] ?? [], names.length);
  return new Map(
    names.map((name, number) => [name, picked(table?.time_s ?? [], places[number] ?? [])]),
  );
}

function placesOf(codes: Raw, count: number): number[][] {
  const places: number[][] = Array.from({ length: count }, () => []);
  for (let row = 0; row < codes.length; row++) places[Number(codes[row])]?.push(row);
  return places;
}

/** Rows of a column as floats; what has no value is no number. */
function picked(values: Raw, rows: number[]): Float64Array {
  const found = new Float64Array(rows.length);
  if (values instanceof BigUint64Array) {
    const halves = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
    rows.forEach((row, at) => {
      const [low = 0, high = 0] = [halves[2 * row], halves[2 * row + 1]];
      found[at] = high === 0xffffffff && low === high ? Number.NaN : high * 4294967296 + low;
    });
  } else {
    rows.forEach((row, at) => {
      found[at] = Number(values[row] ?? Number.NaN);
    });
  }
  return found;
}

/** The gate of a share of `limited_by`: it, or its policer; null of what holds the sender. */
function limitingGate(what: string): string | null {
  for (const prefix of ["gate.", "policer of "]) {
    if (what.startsWith(prefix)) return what.slice(prefix.length);
  }
  return null;
}

/** The gate that holds the flows back most: by shares of time, then by drops, then by the queue. */
export function mainGate(summary: Summary): string | null {
  const shares = new Map<string, number>();
  for (const flow of summary.flows) {
    for (const [what, share] of Object.entries((flow.limited_by ?? {}) as Record<string, number>)) {
      const name = limitingGate(what);
      if (name !== null) shares.set(name, (shares.get(name) ?? 0) + (share || 0));
    }
  }
  const weight = (row: Row): number[] => [
    shares.get(String(row.name)) ?? 0,
    Number(row.dropped_packets) || 0,
    Number(row.queue_mean_packets) || Number(row.queue_mean_cells) || 0,
  ];
  let [best, most]: [string | null, number[]] = [null, []];
  for (const row of summary.gates) {
    const own = weight(row);
    const first = own.findIndex((value, place) => value !== most[place]);
    if (best === null || (first >= 0 && (own[first] ?? 0) > (most[first] ?? 0)))
      [best, most] = [String(row.name), own];
  }
  return best;
}
