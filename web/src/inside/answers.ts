// What the page asks, answered by the WebAssembly module: the same answers as python/tidegate/_lab/work.py gives.
import {
  type Run as ModuleRun,
  type Scenario,
  type Tidegate,
  TidegateError,
} from "../../../crates/tidegate-wasm/tidegate.mjs";
import type { Limits, Problem } from "../lab/place";
import type { Answer, Comparison } from "../lab/results";
import { entries } from "../lab/toml";
import { Compared, type Metrics } from "./figures";
import { perturbed } from "./luck";
import { type Recording, type Run, recording, type Summary, type Words } from "./recording";
import { runView } from "./view";

/** What Python says of a page without a server (`given` in python/tidegate/_lab/static.py). */
export interface Given {
  limits: Limits;
  metrics: Metrics;
}

export interface Job {
  text: string;
  files: Record<string, Uint8Array>;
  seed?: number;
  /** How many runs with small changes are made beside it. */
  perturb?: number;
}

export class RefusedError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problems: Problem[] = [],
  ) {
    super(message);
  }
}

interface Checked {
  scenario: Scenario;
  title: string;
  duration_s: number;
  until_done: boolean;
  seed: number | null;
}

export class Answers {
  private readonly words: Words;

  constructor(
    private readonly module: Tidegate,
    private readonly given: Given,
  ) {
    this.words = module.words();
  }

  schema(): unknown {
    return this.module.schema();
  }

  run(job: Job): Answer {
    const begun = performance.now();
    const checked = this.checked(job, "scenario");
    const seed = job.seed ?? checked.seed ?? 1;
    const run = this.ran(checked, seed, this.span(this.length(checked, seed)), job.perturb);
    return {
      title: checked.title,
      warnings: run.summary.warnings,
      summary: run.summary,
      view: runView(run),
      report: null,
      theory: [],
      ms: performance.now() - begun,
    };
  }

  compare(
    variants: { name: string; text: string }[],
    files: Job["files"],
    perturb?: number,
  ): Comparison {
    const most = this.given.limits.variants;
    if (variants.length < 2 || variants.length > most) {
      const read = `variants: read ${variants.length}`;
      throw new RefusedError(400, `${read}; 2 to ${most} are compared`);
    }
    const checked = variants.map(({ name, text }) => this.checked({ text, files }, name));
    const seeds = checked.map((each) => each.seed).filter((seed) => seed !== null);
    const seed = checked[0]?.seed === null ? 1 : (seeds[0] ?? 1);
    const span = this.span(Math.max(...checked.map((each) => each.duration_s)));
    const runs = checked.map((each) => this.ran(each, seed, span, perturb));
    const compared = new Compared(
      runs.map((run, place) => ({ name: variants[place]?.name ?? "", run })),
      this.given.metrics,
    );
    return {
      rows: compared.rows,
      warnings: [...new Set(runs.flatMap((run) => run.summary.warnings))],
      view: compared.view(),
      cloud: compared.cloud(),
      report: null,
      seed,
      summaries: runs.map((run) => run.summary),
    };
  }

  /** The scenario, checked: first that it is not too large for a page. */
  private checked(job: Job, name: string): Checked {
    const { flows, duration_s: longest } = this.given.limits;
    count(job.text, flows);
    const scenario = { text: job.text, files: job.files, name };
    const facts = told(() => this.module.check(scenario));
    if (facts.duration_s > longest) {
      const long = `the scenario lasts ${facts.duration_s} s`;
      throw new RefusedError(
        413,
        `${long}; the laboratory runs ${longest} s at most (tidegate run runs it)`,
      );
    }
    return { ...facts, scenario };
  }

  /** How long a run is; where it ends when all is done, a run without records tells. */
  private length(checked: Checked, seed: number): number {
    if (!checked.until_done) return checked.duration_s;
    const how = { seed, record: "summary" };
    return told(() => this.module.run(checked.scenario, how)).summary.duration_s;
  }

  private span(duration: number): string {
    return sampleSpan(duration, this.given.limits.samples);
  }

  private ran(checked: Checked, seed: number, record: string, perturb = 0): Recording {
    const run = told(() => this.module.run(checked.scenario, { seed, record }));
    const summary = summaryOf(run);
    if (perturb) {
      const how = { seed, record: "summary" };
      summary.perturbed = perturbed(
        summary,
        perturb,
        this.words.perturb?.changes ?? [],
        (change) =>
          told(() => this.module.run(checked.scenario, { ...how, perturbation: change })).summary,
      );
    }
    return recording({ ...run, summary } as Run, this.words);
  }
}

/** The summary as `tidegate run --json` has it: with the scenario's warnings, without how it was worked through. */
function summaryOf(run: ModuleRun): Summary {
  const { events: _, ...summary } = run.summary;
  return { ...summary, warnings: [...new Set([...run.warnings, ...summary.warnings])] };
}

/** A round span (1, 2 or 5 times a power of ten) that divides a run into samples. */
function sampleSpan(duration: number, samples: number): string {
  const exact = Math.max((duration / samples) * 1e6, 1);
  const power = 10 ** Math.floor(Math.log10(exact));
  const step = [1, 2, 5, 10].map((each) => power * each).find((each) => each >= exact * 0.999);
  return `${Math.round(step ?? exact)} us`;
}

/** Refuses more flows than a page runs, before any of them is made. */
function count(text: string, most: number): void {
  const found = entries(text);
  for (const kind of ["flow", "traffic", "calls"]) {
    const names = new Set(found.filter(({ path }) => path[0] === kind).map(({ path }) => path[1]));
    let all = 0;
    for (const name of names) {
      const own = found.find(({ path }) => path.join("\0") === [kind, name, "count"].join("\0"));
      const copies = own ? Number(own.raw.replaceAll("_", "")) : 1;
      all += Number.isFinite(copies) ? copies : 1;
    }
    if (all > most) {
      const words = `${kind}: the scenario has ${all}; the laboratory runs ${most} at most`;
      throw new RefusedError(413, `${words} (tidegate run runs more)`);
    }
  }
}

/** What the module says, or its refusal. */
function told<Kind>(ask: () => Kind): Kind {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof TidegateError)) throw error;
    const status = error.kind === "bug" ? 500 : error.kind === "memory" ? 413 : 422;
    throw new RefusedError(status, error.problems[0]?.problem ?? error.message, error.problems);
  }
}
