// The laboratory: one text, shown as text and as a form, run as soon as it changes.
import "uplot/dist/uPlot.min.css";
import "./look.css";
import { element } from "../shared/dom";
import { Editor } from "./editor";
import { Form } from "./form";
import { Gallery } from "./gallery";
import { Inside } from "./inside";
import { LiveLines } from "./live";
import { type Asked, type Kind, type Place, Refusal } from "./place";
import { Results } from "./results";
import type { Schema } from "./schema";
import { Server } from "./server";
import { fragment, shared } from "./share";
import { Traces } from "./traces";
import { Variants } from "./variants";

/** A change that is not followed by another for so long, in ms, has a place of its own in the history. */
const SETTLED = 700;
/** A run that takes longer, in ms, is given up for the next one. */
const PATIENCE = 400;
/** Lines of a live run are drawn so often, in ms. */
const REDRAWN = 250;

const place = (id: string) => document.getElementById(id) as HTMLElement;

class Laboratory {
  private text = "";
  private examples = false;
  private luck = false;
  private running: { since: number; stop: AbortController } | null = null;
  private wanted = false;
  private timer = 0;
  private form: Form | null = null;
  private schema: Schema | null = null;
  /** A live run under way: what ends it. Changes wait for its end. */
  private live: AbortController | null = null;
  private readonly results = new Results(place("answer"));
  private readonly state = place("state");
  private readonly banner = place("banner");
  private readonly editor = new Editor(
    place("editor"),
    () => this.schema,
    (text, settled) => this.take(text, settled),
  );
  private readonly variants = new Variants(
    place("variants"),
    () => this.text,
    () => this.kept(),
    (text) => this.take(text, true),
  );

  constructor(private readonly answers: Place) {}

  async begin(): Promise<void> {
    const [start, schema, examples] = await Promise.all([
      this.answers.start(),
      this.answers.schema(),
      this.answers.gallery(),
    ]);
    this.schema = schema;
    this.variants.most = start.limits.variants;
    this.form = new Form(place("form"), schema, (text, settled) => this.take(text, settled));
    const scenarios = new Gallery(
      examples,
      start.files,
      (text, own) => this.open(text, own),
      (name) => this.fetch(name),
    );
    place("scenarios").addEventListener("click", () => scenarios.open());
    const box = place("luck") as HTMLInputElement;
    this.luck = box.checked;
    box.addEventListener("change", () => {
      this.luck = box.checked;
      this.run();
    });
    place("share").addEventListener("click", () => this.share());
    // A page without a server has no kernel to run with.
    place("live").hidden = this.answers instanceof Inside;
    place("live").addEventListener("click", () => this.runLive());
    for (const what of ["toml", "json", "png", "svg", "html"] as const) {
      const button = place(`get-${what}`);
      button.hidden = !this.answers.kinds.includes(what);
      button.addEventListener("click", () => this.download(what));
    }
    if (this.answers instanceof Inside) {
      const failed = (message: string) => this.failed(new Refusal(413, message));
      new Traces(place("own-traces"), this.answers.chosen, () => this.run(), failed);
    }
    addEventListener("popstate", () => this.back());
    addEventListener("hashchange", () => this.back());
    const first = examples.find((each) => each.name === "household");
    const named = /^#e=([\w-]+)$/.exec(location.hash)?.[1];
    const example = examples.findLast((each) => each.name === named);
    const given = example
      ? { text: example.text, examples: true, variants: [] }
      : await shared(location.hash);
    const begun = given ?? {
      text: start.text ?? first?.text ?? "",
      examples: start.text === null,
      variants: [],
    };
    this.examples = begun.examples;
    this.take(begun.text, false);
    if (begun.variants.length) {
      this.variants.restore(begun.variants);
      this.run();
    }
    history.replaceState(null, "", await this.address());
  }

  /** The scenario and the variants that are kept, as part of an address. */
  private address(): Promise<string> {
    const { text, examples } = this;
    return fragment({ text, examples, variants: this.variants.kept });
  }

  /** A variant was kept or removed: it is part of the address. */
  private kept(): void {
    this.remember();
    this.run();
  }

  private get asked(): Asked {
    const { text, examples, luck } = this;
    return { text, variants: this.variants.all(), examples, luck };
  }

  /** Another scenario, with its own place in the history. */
  private open(text: string, examples: boolean): void {
    this.examples = examples;
    this.take(text, true);
  }

  private async fetch(name: string): Promise<void> {
    try {
      this.open(await this.answers.file(name), false);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Every change comes here, whether typed, dragged or opened. */
  private take(text: string, settled: boolean): void {
    clearTimeout(this.timer);
    if (text !== this.text) this.show(text);
    this.timer = setTimeout(() => this.remember(), settled ? 0 : SETTLED);
  }

  private show(text: string): void {
    this.text = text;
    this.editor.show(text);
    this.form?.show(text);
    this.variants.show();
    this.run();
  }

  private async remember(): Promise<void> {
    const address = await this.address();
    if (address !== location.hash) history.pushState(null, "", address);
  }

  private async back(): Promise<void> {
    clearTimeout(this.timer);
    const found = await shared(location.hash);
    if (!found || location.hash === (await this.address())) return;
    this.examples = found.examples;
    this.variants.restore(found.variants);
    this.show(found.text);
  }

  /** Runs what is wanted now; of what changes meanwhile only the newest is run. */
  private async run(): Promise<void> {
    this.wanted = true;
    if (this.live) return;
    if (this.running) {
      if (performance.now() - this.running.since > PATIENCE) this.running.stop.abort();
      return;
    }
    while (this.wanted && !this.live) {
      this.wanted = false;
      const stop = new AbortController();
      this.running = { since: performance.now(), stop };
      const late = setTimeout(() => {
        if (this.wanted) stop.abort();
        this.state.textContent = "running …";
      }, PATIENCE);
      try {
        await this.once(stop.signal);
      } catch (error) {
        if (!(error instanceof Refusal && error.status === 409)) this.failed(error);
      }
      clearTimeout(late);
      this.running = null;
    }
  }

  private async once(signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    const { asked } = this;
    let came: number;
    if (asked.variants.length) {
      const answer = await this.answers.compare(asked, signal);
      came = performance.now();
      this.results.compare(answer);
    } else {
      const answer = await this.answers.run(asked, signal);
      came = performance.now();
      this.results.run(answer);
    }
    document.body.dataset.drawn = String(Math.round(performance.now() - came));
    const took = Math.round(performance.now() - begun);
    this.answered(`answered in ${took} ms`);
    document.body.dataset.took = String(took);
  }

  private answered(words: string): void {
    document.title = `${this.results.title} – Tidegate laboratory`;
    this.banner.hidden = true;
    this.editor.tell([]);
    this.form?.tell([]);
    this.state.textContent = words;
    place("short").textContent = this.results.short();
    place("short").hidden = false;
    document.body.dataset.answered = String(Number(document.body.dataset.answered ?? 0) + 1);
  }

  /** Begins a run with the kernel's TCP, or stops the one that is under way. */
  private async runLive(): Promise<void> {
    if (this.live) {
      this.live.abort();
      return;
    }
    const button = place("live");
    const stop = new AbortController();
    this.live = stop;
    this.running?.stop.abort();
    this.wanted = false;
    button.textContent = "Stop the live run";
    this.state.textContent = "the live run begins …";
    const lines = new LiveLines();
    const drawn = setInterval(() => this.drawLive(lines), REDRAWN);
    try {
      const answer = await this.answers.live(this.asked, (told) => lines.hear(told), stop.signal);
      this.results.run(answer);
      this.answered(`live run done, ${answer.summary.duration_s} s`);
    } catch (error) {
      const stopped = error instanceof Refusal && error.status === 409 && stop.signal.aborted;
      if (!stopped) this.failed(error);
      else this.state.textContent = "live run stopped";
    }
    clearInterval(drawn);
    this.live = null;
    button.textContent = "Run live";
    if (this.wanted) this.run();
  }

  private drawLive(lines: LiveLines): void {
    const view = lines.view();
    if (!view) return;
    this.results.live(lines.title, view);
    this.state.textContent = `live: ${(lines.share * view.end).toFixed(1)} of ${view.end} s`;
    document.body.dataset.live = String(Number(document.body.dataset.live ?? 0) + 1);
  }

  private failed(error: unknown): void {
    const refusal = error instanceof Refusal ? error : new Refusal(-1, String(error));
    this.results.stale(true);
    place("short").hidden = true;
    this.editor.tell(refusal.problems);
    const field = this.form?.tell(refusal.problems) ?? null;
    const count = refusal.problems.filter((each) => each.line !== null || each.key).length;
    const words = `${count} ${count === 1 ? "problem" : "problems"} in the scenario`;
    this.state.replaceChildren(...(count ? [this.link(words, field)] : []));
    this.banner.hidden = count > 0;
    if (count) return;
    this.banner.textContent = refusal.message;
    if (refusal.status === 0) this.wait();
    if (refusal.status === 403) {
      this.banner.textContent =
        "The laboratory was started again with another address. Open the one that it printed; " +
        "what stands behind # in this page's address is your scenario and can be put behind that one.";
    }
  }

  /** What leads to the field that is wrong or, where none is, to the list below the text. */
  private link(words: string, field: HTMLElement | null): HTMLElement {
    const click = () => {
      (field ?? place("problems")).scrollIntoView({ block: "center" });
      field?.focus();
    };
    return element("button", { type: "button", class: "link", click }, words);
  }

  /** Asks now and then whether the server is there again. */
  private wait(): void {
    this.banner.textContent =
      "The server does not answer. Start tidegate lab again; your scenario is kept in this page's address.";
    setTimeout(() => this.run(), 1500);
  }

  private async share(): Promise<void> {
    await this.remember();
    const words = place("shared");
    const whole = this.answers instanceof Inside;
    const field = element("input", {
      type: "text",
      readonly: true,
      "aria-label": whole
        ? "The address with the scenario in it"
        : "The scenario as part of an address",
    });
    field.value = whole ? location.href : location.hash;
    const told = whole
      ? "Whoever opens this address has the scenario; it is behind #, which goes to no server."
      : "Put this behind the address of any laboratory: the scenario is in it, and goes to no server.";
    words.replaceChildren(element("p", {}, told), field);
    words.hidden = false;
    field.select();
    await navigator.clipboard?.writeText(field.value).catch(() => undefined);
  }

  private async download(what: Kind): Promise<void> {
    try {
      const data = await this.answers.download(what, this.asked, this.results);
      const address = URL.createObjectURL(data);
      element("a", { href: address, download: `tidegate.${what}` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      this.failed(error);
    }
  }
}

/** A page that was made to work without a server says so in its head. */
function answers(): Place {
  const alone = document.querySelector("meta[name='tidegate-alone']");
  if (!alone) return new Server();
  if (location.protocol === "file:")
    throw new Error(
      "A browser loads no module from a file. Open this folder through a web server: python3 -m http.server.",
    );
  return new Inside();
}

async function begin(): Promise<void> {
  try {
    await new Laboratory(answers()).begin();
  } catch (error) {
    const banner = place("banner");
    banner.hidden = false;
    banner.textContent = error instanceof Error ? error.message : String(error);
  }
}

begin();
