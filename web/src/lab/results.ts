// What came out: numbers, what limited whom, theory beside the simulation, and the lines over time.

import { totalGoodput } from "../inside/figures";
import type { Summary } from "../inside/recording";
import { Board } from "../shared/board";
import { type Chosen, cloud } from "../shared/cloud";
import { element } from "../shared/dom";
import { number } from "../shared/number";
import type { Cloud, Perturbed, View } from "../shared/view";
import { limitedBy, type Shares } from "./limits";
import { changed, ranges, type Told } from "./luck";
import {
  FLOWS,
  GATES,
  grid,
  ofFlows,
  ofGates,
  ofOthers,
  ofTraffic,
  ofVariants,
  type Row,
  table,
} from "./numbers";

export interface Answer {
  title: string;
  warnings: string[];
  summary: Summary;
  view: View | null;
  report: string | null;
  theory: {
    theory: string;
    assumptions: string[];
    rows: [string, string, number, number | null][];
  }[];
  ms: number;
}

export interface Comparison {
  rows: Row[];
  warnings: string[];
  view: View | null;
  cloud: Cloud | null;
  report: string | null;
  seed: number;
  summaries: { flows: Row[]; gates: Row[]; perturbed?: Perturbed }[];
}

export class Results {
  private board: Board | null = null;
  /** The numbers that were chosen to stand against each other. */
  private readonly chosen: Chosen = {};
  private last: Answer | Comparison | null = null;
  private readonly results = element("section", { "aria-label": "Results", id: "results" });
  readonly stage = element("section", { "aria-label": "Over time", id: "board" });
  private readonly rest = element("section", { "aria-label": "More" });

  constructor(private readonly host: HTMLElement) {
    host.append(this.results, this.stage, this.rest);
  }

  get view(): View | null {
    return this.last?.view ?? null;
  }

  get cloud(): Cloud | null {
    return this.last && "cloud" in this.last ? this.last.cloud : null;
  }

  /** What is shown, as numbers: a run's summary, or those of variants with what they are compared by. */
  numbers(): unknown {
    if (!this.last) return null;
    if ("summary" in this.last) return this.last.summary;
    const { rows, summaries, seed, warnings } = this.last;
    const variants = rows.map((row, place) => ({ ...row, summary: summaries[place] }));
    return { seed, variants, warnings };
  }

  /** The first numbers in a line: for a screen that has no room for more beside the form. */
  short(): string {
    if (!this.last) return "";
    const { last } = this;
    const compared = "rows" in last;
    const now = compared ? last.rows.slice(-1) : last.summary.gates;
    const goodput = compared ? now[0]?.goodput_bps : totalGoodput(last.summary);
    const waits = now.map((row) => row.queue_delay_p99_ms).filter((each) => each != null);
    const wait = waits.length ? `, wait p99 ${number(Math.max(...waits.map(Number)))} ms` : "";
    return `${compared ? "now: " : ""}goodput ${number(typeof goodput === "number" ? goodput / 1e6 : null)} Mbit/s${wait}`;
  }

  /** The tables as they stand on the page. */
  tables(): string {
    return [...this.results.querySelectorAll(".wide, .warnings, .limited, .luck p")]
      .map((each) => each.outerHTML)
      .join("\n");
  }

  /** What is shown, in a few words. */
  get title(): string {
    return this.results.querySelector("h2")?.textContent ?? "";
  }

  /** Says that what is shown is of a scenario before. */
  stale(is: boolean): void {
    this.host.classList.toggle("stale", is);
  }

  /** A live run that is under way: its lines so far. */
  live(title: string, view: View | null): void {
    this.results.replaceChildren(
      element("h2", {}, `${title || "Results"}, live`),
      element(
        "p",
        { class: "where" },
        "The kernel's TCP in real time; its numbers come at its end.",
      ),
    );
    this.rest.replaceChildren();
    if (view) this.draw(view);
    this.stale(false);
  }

  run(answer: Answer): void {
    this.last = answer;
    const live = answer.summary.engine === "live" ? ", live" : "";
    this.results.replaceChildren(
      element("h2", {}, `${answer.title || "Results"}${live}`),
      ...warnings(answer.warnings),
      ...flowTable(answer.summary),
      ...gateTables(answer.summary.gates),
      ...luck(answer.summary.perturbed ? ranges(answer.summary.perturbed) : null, "number"),
      ...ofOthers(answer.summary).map(({ what, rows, columns, all, which }) =>
        table(what, rows, columns, all, which),
      ),
      ...limits(answer.summary.flows),
    );
    this.draw(answer.view);
    this.rest.replaceChildren(...theories(answer), ...report(answer.report));
    this.stale(false);
  }

  compare(answer: Comparison): void {
    this.last = answer;
    this.results.replaceChildren(
      element("h2", {}, "Variants, with the same random numbers"),
      ...warnings(answer.warnings),
      table("scenario", answer.rows, [
        ...ofVariants(
          answer.rows,
          answer.summaries.map((each) => each.flows.length),
        ),
        ...ofTraffic(answer.rows),
      ]),
      ...luck(
        changed(
          answer.rows.map((row) => String(row.scenario)),
          answer.summaries.map((each) => each.perturbed),
        ),
        "variant",
      ),
    );
    this.draw(answer.view);
    this.rest.replaceChildren(...report(answer.report));
    if (answer.cloud) {
      const place = element("div", { id: "cloud" });
      this.rest.prepend(element("h3", {}, "One number against another"), place);
      cloud(place, answer.cloud, this.chosen);
    }
    this.stale(false);
  }

  private draw(view: View | null): void {
    if (view && this.board?.update(view)) return;
    const part = this.board?.part;
    this.board?.destroy();
    const shown = part && view && part[1] <= view.end ? part : undefined;
    this.board = view ? new Board(this.stage, view, shown) : null;
  }
}

function flowTable(summary: Summary): HTMLElement[] {
  const { flows } = summary;
  return flows.length ? [table("flow", ofFlows(summary), FLOWS, flows.length)] : [];
}

function gateTables(gates: Row[]): HTMLElement[] {
  return ofGates(gates).map(({ rows, all }) => table("gate", rows, GATES, all));
}

/** One line for each flow: what it was limited by, and for which share of the time. */
function limits(flows: Row[]): HTMLElement[] {
  return flows.slice(0, 4).flatMap((flow) => {
    const shares = limitedBy(flow.limited_by as Shares);
    return shares === "–"
      ? []
      : [element("p", { class: "limited" }, `${flow.name} was limited by: ${shares}`)];
  });
}

/** What small changes that nobody can know make of the numbers. */
function luck(told: Told | null, what: string): HTMLElement[] {
  if (!told) return [];
  const rows = told.rows.map(({ name, cells }) => ({
    name,
    cells: cells.map((text) => ({ text })),
  }));
  return [
    element(
      "section",
      { class: "luck", "aria-label": "How much is luck" },
      element("h3", {}, "How much is luck"),
      grid(what, told.head, rows),
      ...told.sentences.map((each) => element("p", {}, each)),
      element("p", { class: "where" }, told.about),
    ),
  ];
}

function warnings(found: string[]): HTMLElement[] {
  if (!found.length) return [];
  const items = found.map((each) => element("li", {}, each));
  return [element("aside", { class: "warnings" }, element("ul", {}, ...items))];
}

function theories(answer: Answer): HTMLElement[] {
  return answer.theory.map(({ theory, assumptions, rows }) => {
    const head = ["", "number", "theory", "simulated"].map((words, place) =>
      element("th", { scope: "col", class: place < 2 ? "text" : "" }, words),
    );
    const body = rows.map(([who, column, value, simulated]) =>
      element(
        "tr",
        {},
        element("td", { class: "text" }, who),
        element("td", { class: "text" }, column),
        element("td", {}, number(value)),
        element("td", {}, number(simulated)),
      ),
    );
    const grid = element(
      "table",
      { class: "grid" },
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...body),
    );
    return element(
      "section",
      { class: "theory", "aria-label": `Theory ${theory}` },
      element("h3", {}, `Theory: ${theory}`),
      ...assumptions.map((each) => element("p", { class: "where" }, each)),
      element(
        "div",
        {
          class: "wide",
          tabindex: "0",
          role: "group",
          "aria-label": "Theory beside the simulation",
        },
        grid,
      ),
    );
  });
}

/** Where the command line's text is known. */
function report(text: string | null): HTMLElement[] {
  if (text === null) return [];
  const words = element("summary", {}, "The whole table, as tidegate run prints it");
  return [element("details", {}, words, element("pre", {}, text))];
}
