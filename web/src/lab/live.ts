// A run with the kernel's TCP, drawn while it lasts: the rows that come are those of the run's own columns.
import { type Row, recording, type Summary, type Words } from "../inside/recording";
import { runView } from "../inside/view";
import type { View } from "../shared/view";
import type { Heard } from "./place";

interface About {
  title: string;
  summary: Summary;
  paths: Record<string, { path: string[]; back: string[] }>;
  laws: Record<string, never>;
  words: Words;
}

export class LiveLines {
  private about: About | null = null;
  private readonly tables: Record<string, Record<string, number[]>> = {};
  share = 0;

  hear(told: Heard): void {
    if (told.what === "begin") {
      this.about = told.about as unknown as About;
      return;
    }
    this.share = told.share;
    for (const [name, columns] of Object.entries(told.tables)) {
      this.tables[name] ??= {};
      const table = this.tables[name];
      for (const [key, values] of Object.entries(columns)) {
        table[key] ??= [];
        // One by one: a list of arguments has an end.
        for (const value of values) table[key].push(value ?? Number.NaN);
      }
    }
  }

  get title(): string {
    return this.about?.title ?? "";
  }

  /** What has come so far; null before the first row. */
  view(): View | null {
    if (!this.about || !this.tables.flows?.time_s?.length || !this.tables.gates) return null;
    const { summary, paths, laws, words } = this.about;
    // Round trips of segments are read off the packets, at the end: until then there is the kernel's smoothed one.
    const { rtt_ms: _, ...flows } = this.tables.flows;
    const tables = { ...this.tables, flows };
    const run = recording({ summary: this.sofar(summary), paths, laws, groups: [], tables }, words);
    return upTo(runView(run));
  }

  /** Of gates so far: what they dropped, by which the one that is shown is chosen. */
  private sofar(summary: Summary): Summary {
    const { gate = [], dropped_packets: dropped = [] } = this.tables.gates ?? {};
    const most: number[] = [];
    gate.forEach((number, row) => {
      most[number] = dropped[row] || 0;
    });
    const gates = summary.gates.map((each, place): Row => {
      return { ...each, dropped_packets: most[place] ?? 0 };
    });
    return { ...summary, gates };
  }
}

/** What held a flow back last is known until now, and not until the run's end. */
function upTo(view: View): View {
  for (const { codes } of view.bands?.rows ?? []) {
    const column = view.columns[codes];
    if (column instanceof Float64Array && column.length) column[column.length - 1] = Number.NaN;
  }
  return view;
}
