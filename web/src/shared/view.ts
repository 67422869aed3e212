// What is drawn over time, as python/tidegate/_page/view.py says it.
import type { Column } from "./columns";

export interface Line {
  name: string;
  y: number;
  /** line; dash: a limit; fill: shaded below. */
  look: "line" | "dash" | "fill";
  colour: number;
  /** A count of bytes, drawn as its rate; a level, drawn as its mean; or the numbers themselves. */
  from: "count" | "mean" | "numbers";
  /** Whether the axis makes room for it. */
  fit: boolean;
}

export interface Marks {
  name: string;
  count: number;
  at: number;
  colour: string;
}

export interface Panel {
  id: string;
  title: string;
  unit: string;
  /** The end of the axis; null: what the lines need. */
  top: number | null;
  x: number;
  lines: Line[];
  marks: Marks[];
}

/** Rows of coloured stretches: what held each flow back. */
export interface Bands {
  title: string;
  note: string;
  x: number;
  words: string[];
  /** The number of each word's colour. */
  colours: number[];
  rows: { name: string; codes: number }[];
}

export interface View {
  end: number;
  from: number;
  notes: string[];
  panels: Panel[];
  bands: Bands | null;
  columns: Column[];
}

export interface Metric {
  name: string;
  label: string;
}

export interface Cloud {
  metrics: Metric[];
  x: number;
  y: number;
  /** The numbers of each point, in the order of the metrics: mean, low and high end of its interval. */
  points: { label: string; values: ([number, number | null, number | null] | null)[] }[];
}

/** A number as written, and in runs with small changes that nobody can know. */
export interface Spread {
  as_written: number | null;
  least: number | null;
  median: number | null;
  greatest: number | null;
  /** In the order of the changes; null where a run has no such number. */
  values: (number | null)[];
}

/** Rows that are told by name, as MOST_ROWS in python/tidegate/_run/words.py. */
export const MOST_ROWS = 12;

/** `perturbed` of a summary. */
export interface Perturbed {
  runs: number;
  /** What a small change is, in words. */
  changes: string[];
  numbers: Record<string, Spread>;
}
