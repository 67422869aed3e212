// How much of a number is luck, in the words of `tidegate run --perturb` and `compare --perturb`
// (python/tidegate/_run/perturbed.py, _compare/changed.py). A test compares the two.
import { number, percent, rateScale } from "../shared/number";
import type { Perturbed, Spread } from "../shared/view";

/** A number that differs by more than this share is said to hang on luck. */
const LARGE = 0.1;
/** Differences that matter to nobody, by what a number's name ends in. */
const SMALL: [string, number][] = [
  ["_ms", 0.5],
  ["loss", 0.005],
];
const OF_ALL: Record<string, string> = {
  goodput_bps: "goodput of all flows",
  completion_s: "time until all is done",
  response_mean_s: "mean response time",
  response_p95_s: "response time p95",
};
const COLUMNS: Record<string, string> = {
  goodput_bps: "goodput",
  completion_s: "time until done",
  queue_delay_p99_ms: "wait p99",
  delay_p99_ms: "delay p99",
  utilisation: "use",
};

/** A table, and what is said below it. */
export interface Told {
  head: [words: string, unit: string][];
  rows: { name: string; cells: string[] }[];
  about: string;
  sentences: string[];
}

/** The ranges of a run's numbers. */
export function ranges(perturbed: Perturbed): Told {
  const { runs, changes } = perturbed;
  const numbers = shown(perturbed);
  const lucky = numbers.filter(([name, of]) => isLuck(name, of));
  return {
    head: [
      ["as written", ""],
      [`in ${runs} runs`, ""],
      ["width, %", ""],
    ],
    rows: numbers.map(([name, of]) => ({
      name: named(name),
      cells: [valued(name, of.as_written), ranged(name, of), percent(widthOf(of))],
    })),
    about: `Small changes that nobody can know, in ${runs} runs: ${changes.join("; ")}.`,
    sentences: lucky.map(([name, of]) => `${capital(sentence(name, of, runs))}.`),
  };
}

/** The ranges of each variant's goodput, and whether their order holds; null where one has none. */
export function changed(labels: string[], each: (Perturbed | undefined)[]): Told | null {
  const runs = each[0]?.runs ?? 0;
  const spreads = each.flatMap((of) => of?.numbers.goodput_bps ?? []);
  const [first] = spreads;
  if (!first || spreads.length < labels.length) return null;
  const tops = spreads.flatMap((of) => [of.greatest ?? 0, of.as_written ?? 0]);
  const [factor, unit] = rateScale(Math.max(...tops));
  const told = (value: number | null) => number(value === null ? null : value / factor);
  const words = ["goodput", "least", "median", "greatest", "diff. least", "greatest"];
  return {
    head: words.map((word) => [word, unit]),
    rows: spreads.map((of, place) => {
      const apart = differences(first, of);
      const ends = [Math.min, Math.max].map((end) => told(apart.length ? end(...apart) : null));
      return {
        name: labels[place] ?? "",
        cells: [
          ...[of.as_written, of.least, of.median, of.greatest].map(told),
          ...(place ? ends : ["–", "–"]),
        ],
      };
    }),
    about:
      `In ${runs} runs of each with small changes that nobody can know. diff.: what a variant has more ` +
      "than the first, change by change; change i is the same in all.",
    sentences: [
      ...spreads.flatMap((of, place) =>
        isLuck("goodput_bps", of)
          ? [`${labels[place]}: ${sentence("goodput_bps", of, runs)}.`]
          : [],
      ),
      ...orders(labels, spreads, runs),
    ],
  };
}

/** Which variants have more than the first with one change, and less with another; less than 1% is no difference. */
function orders(labels: string[], spreads: Spread[], runs: number): string[] {
  const [first] = spreads;
  if (!first) return [];
  const same = 0.01 * Math.abs(first.as_written ?? 0);
  return spreads.slice(1).flatMap((of, place) => {
    const apart = differences(first, of);
    const more = apart.filter((difference) => difference > same).length;
    const less = apart.filter((difference) => difference < -same).length;
    const label = labels[place + 1];
    return more && less
      ? [
          `Whether ${label} or ${labels[0]} has more goodput depends on luck: ${label} has ` +
            `more in ${more} of ${runs} runs, less in ${less}.`,
        ]
      : [];
  });
}

/** Change by change, where both have the number. */
const differences = (first: Spread, other: Spread) =>
  first.values.flatMap((one, place) => {
    const two = other.values[place] ?? null;
    return one === null || two === null ? [] : [two - one];
  });

/** What all flows have together is that of a flow alone. */
function shown(perturbed: Perturbed): [string, Spread][] {
  const numbers = Object.entries(perturbed.numbers);
  const own = ([name]: [string, Spread]) =>
    name.startsWith("flow.") && name.endsWith(".goodput_bps");
  const alone = numbers.filter(own).length === 1;
  return numbers.filter(([name]) => !(alone && name === "goodput_bps"));
}

/** The width of a range, of the run as written and those with changes, in parts of the number. */
function widthOf({ as_written: written, least, greatest, median }: Spread): number | null {
  if (written === null || least === null || greatest === null) return null;
  const width = Math.max(greatest, written) - Math.min(least, written);
  const base = Math.abs(written) || Math.abs(median ?? 0);
  return base ? width / base : null;
}

function isLuck(name: string, spread: Spread): boolean {
  if (spread.values.includes(null)) return true;
  const width = widthOf(spread);
  if (width === null || width <= LARGE) return false;
  const base = Math.abs(spread.as_written ?? 0) || Math.abs(spread.median ?? 0);
  const least = SMALL.find(([end]) => name.endsWith(end))?.[1] ?? 0;
  return width * base >= least;
}

/** What a number is called: "goodput of bulk". */
function named(name: string): string {
  const kind = name.split(".")[0] ?? "";
  const column = name.split(".").at(-1) ?? "";
  const element = name.slice(kind.length + 1, -column.length - 1);
  if (!element) return OF_ALL[name] ?? name;
  const place = kind === "gate" || kind === "traffic" ? `${kind} ` : "";
  return `${COLUMNS[column] ?? column} of ${place}${element}`;
}

function valued(name: string, value: number | null): string {
  if (value === null) return "–";
  if (name.endsWith("_bps")) {
    const [factor, unit] = rateScale(Math.abs(value));
    return `${number(value / factor)} ${unit}`;
  }
  if (name.endsWith("loss") || name.endsWith("utilisation")) return `${percent(value)}%`;
  const unit = name.endsWith("_ms") ? " ms" : name.endsWith("_s") ? " s" : "";
  return `${number(value)}${unit}`;
}

function ranged(name: string, spread: Spread): string {
  if (spread.least === null) return "–";
  const [low, high] = [valued(name, spread.least), valued(name, spread.greatest)];
  const [plain, unit] = low.split(" ");
  return unit && high.endsWith(` ${unit}`) ? `${plain} to ${high}` : `${low} to ${high}`;
}

function sentence(name: string, spread: Spread, runs: number): string {
  const lacking = spread.values.filter((value) => value === null).length;
  const told = lacking
    ? `${lacking} of ${runs} runs with small changes have none`
    : `${ranged(name, spread)} in ${runs} runs with small changes`;
  const written = valued(name, spread.as_written);
  return `${named(name)} depends on luck: ${written}, but ${told}`;
}

const capital = (words: string) => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
