// A run again and again with small changes that nobody can know: as python/tidegate/_run/perturbed.py does it. A test
// compares the two.
import { MOST_ROWS, type Perturbed, type Spread } from "../shared/view";
import { figures } from "./figures";
import { mainGate, type Row, type Summary } from "./recording";

interface Metric {
  name: string;
  of: (summary: Summary) => number | null;
}

const numeric = (value: unknown) => (typeof value === "number" ? value : null);

/** A number of all flows together. */
const ofAll = (name: string): Metric => ({
  name,
  of: (summary) => numeric(figures(summary, null)[name]),
});

/** A number of a row in the first of these tables that has one of this name. */
function ofRow(kind: string, tables: string[], name: string, column: string): Metric {
  const find = (summary: Summary) =>
    tables.flatMap((table) => (summary[table] ?? []) as Row[]).find((row) => row.name === name);
  return { name: `${kind}.${name}.${column}`, of: (summary) => numeric(find(summary)?.[column]) };
}

/** The numbers of a run that people read first. */
function headline(summary: Summary): Metric[] {
  const { flows } = summary;
  const found: Metric[] = flows.length ? [ofAll("goodput_bps")] : [];
  if (flows.length <= MOST_ROWS) {
    for (const row of flows) {
      const of = (column: string) => ofRow("flow", ["flows"], String(row.name), column);
      found.push(of("goodput_bps"), of("completion_s"));
    }
  } else found.push(ofAll("completion_s"));
  if (flows.length > 1) found.push(ofAll("fairness"));
  found.push(ofAll("response_mean_s"), ofAll("response_p95_s"));
  const gate = mainGate(summary);
  if (gate !== null)
    for (const column of ["queue_delay_p99_ms", "loss", "utilisation"])
      found.push(ofRow("gate", ["gates"], gate, column));
  for (const { name } of summary.traffic_groups ?? []) {
    if (name === "all") continue;
    for (const column of ["delay_p99_ms", "loss"])
      found.push(ofRow("traffic", ["traffic", "traffic_groups"], String(name), column));
  }
  return found.filter((each) => each.of(summary) !== null);
}

/** What runs with small changes 1 to `runs` make of the headline numbers of a run as written. */
export function perturbed(
  written: Summary,
  runs: number,
  changes: string[],
  run: (change: number) => Summary,
): Perturbed {
  const metrics = headline(written);
  const rows = Array.from({ length: runs }, (_, place) => {
    const summary = run(place + 1);
    return metrics.map((each) => each.of(summary));
  });
  const spreads = metrics.map((each, place): [string, Spread] => [
    each.name,
    spread(
      each.of(written),
      rows.map((row) => row[place] ?? null),
    ),
  ]);
  return { runs, changes, numbers: Object.fromEntries(spreads) };
}

function spread(written: number | null, values: (number | null)[]): Spread {
  const there = values.filter((value) => value !== null).toSorted((a, b) => a - b);
  const middle = there.length >> 1;
  const [low, high] = [there[middle - 1] ?? 0, there[middle] ?? 0];
  const median = there.length % 2 ? high : (low + high) / 2;
  return {
    as_written: written,
    least: there[0] ?? null,
    median: there.length ? median : null,
    greatest: there.at(-1) ?? null,
    values,
  };
}
