// The laboratory: one text, shown as text and as a form, run as soon as it changes.
import "uplot/dist/uPlot.min.css";
import "./look.css";
import { element } from "../shared/dom";
import { Editor } from "./editor";
import { Form } from "./form";
import { type Example, Gallery } from "./gallery";
import { type Answer, type Comparison, Results } from "./results";
import type { Schema } from "./schema";
import { ask, file, get, Refusal } from "./server";
import { fragment, shared } from "./share";
import { Variants } from "./variants";

interface Start {
  version: string;
  folder: string;
  files: string[];
  file: string | null;
  text: string | null;
}

/** A change that is not followed by another for so long, in ms, has a place of its own in the history. */
const SETTLED = 700;
/** A run that takes longer, in ms, is given up for the next one. */
const PATIENCE = 400;

const place = (id: string) => document.getElementById(id) as HTMLElement;

class Laboratory {
  private text = "";
  private examples = false;
  private running: { since: number; stop: AbortController } | null = null;
  private wanted = false;
  private timer = 0;
  private form: Form | null = null;
  private schema: Schema | null = null;
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
    () => this.run(),
    (text) => this.take(text, true),
  );

  async begin(): Promise<void> {
    const [start, schema, gallery] = await Promise.all([
      get<Start>("start"),
      get<Schema>("schema"),
      get<{ examples: Example[] }>("gallery"),
    ]);
    this.schema = schema;
    this.form = new Form(place("form"), schema, (text, settled) => this.take(text, settled));
    const scenarios = new Gallery(
      gallery.examples,
      start.files,
      (text, examples) => this.open(text, examples),
      (name) => this.fetch(name),
    );
    place("scenarios").addEventListener("click", () => scenarios.open());
    place("share").addEventListener("click", () => this.share());
    for (const what of ["toml", "json", "png", "svg", "html"]) {
      place(`get-${what}`).addEventListener("click", () => this.download(what));
    }
    addEventListener("popstate", () => this.back());
    addEventListener("hashchange", () => this.back());
    const first = gallery.examples.find((each) => each.name === "household");
    const named = /^#e=([\w-]+)$/.exec(location.hash)?.[1];
    const example = gallery.examples.findLast((each) => each.name === named);
    const given = example ? { text: example.text, examples: true } : await shared(location.hash);
    const begun = given ?? { text: start.text ?? first?.text ?? "", examples: start.text === null };
    this.examples = begun.examples;
    this.take(begun.text, false);
    history.replaceState(null, "", await fragment({ text: this.text, examples: this.examples }));
  }

  /** Another scenario, with its own place in the history. */
  private open(text: string, examples: boolean): void {
    this.examples = examples;
    this.take(text, true);
  }

  private async fetch(name: string): Promise<void> {
    try {
      const found = await get<{ text: string }>(`file?name=${encodeURIComponent(name)}`);
      this.open(found.text, false);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Every change comes here, whether typed, dragged or opened. */
  private take(text: string, settled: boolean): void {
    clearTimeout(this.timer);
    if (text !== this.text) {
      this.text = text;
      this.editor.show(text);
      this.form?.show(text);
      this.run();
    }
    this.timer = setTimeout(() => this.remember(), settled ? 0 : SETTLED);
  }

  private async remember(): Promise<void> {
    const address = await fragment({ text: this.text, examples: this.examples });
    if (address !== location.hash) history.pushState(null, "", address);
  }

  private async back(): Promise<void> {
    clearTimeout(this.timer);
    const found = await shared(location.hash);
    if (!found || found.text === this.text) return;
    this.examples = found.examples;
    this.text = found.text;
    this.editor.show(found.text);
    this.form?.show(found.text);
    this.run();
  }

  /** Runs what is wanted now; of what changes meanwhile only the newest is run. */
  private async run(): Promise<void> {
    this.wanted = true;
    if (this.running) {
      if (performance.now() - this.running.since > PATIENCE) this.running.stop.abort();
      return;
    }
    while (this.wanted) {
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
    const from = this.examples ? "examples" : "folder";
    const variants = this.variants.all();
    let came: number;
    if (variants.length) {
      const answer = await ask<Comparison>("compare", { variants, from }, signal);
      came = performance.now();
      this.results.compare(answer);
    } else {
      const answer = await ask<Answer>("run", { text: this.text, from }, signal);
      came = performance.now();
      this.results.run(answer);
    }
    document.body.dataset.drawn = String(Math.round(performance.now() - came));
    document.title = `${this.results.title} – Tidegate laboratory`;
    this.banner.hidden = true;
    this.editor.tell([]);
    const took = Math.round(performance.now() - begun);
    this.state.textContent = `answered in ${took} ms`;
    document.body.dataset.answered = String(Number(document.body.dataset.answered ?? 0) + 1);
    document.body.dataset.took = String(took);
  }

  private failed(error: unknown): void {
    const refusal = error instanceof Refusal ? error : new Refusal(-1, String(error));
    this.results.stale(true);
    this.editor.tell(refusal.problems);
    const count = refusal.problems.length;
    this.state.textContent = count
      ? `${count} ${count === 1 ? "problem" : "problems"} in the scenario`
      : "";
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

  /** Asks now and then whether the server is there again. */
  private wait(): void {
    this.banner.textContent =
      "The server does not answer. Start tidegate lab again; your scenario is kept in this page's address.";
    setTimeout(() => this.run(), 1500);
  }

  private async share(): Promise<void> {
    await this.remember();
    const words = place("shared");
    const field = element("input", {
      type: "text",
      readonly: true,
      "aria-label": "The scenario as part of an address",
    });
    field.value = location.hash;
    words.replaceChildren(
      element(
        "p",
        {},
        "Put this behind the address of any laboratory: the scenario is in it, and goes to no server.",
      ),
      field,
    );
    words.hidden = false;
    field.select();
    await navigator.clipboard?.writeText(location.hash).catch(() => undefined);
  }

  private async download(what: string): Promise<void> {
    try {
      const from = this.examples ? "examples" : "folder";
      const variants = this.variants.all();
      const asked = variants.length && what !== "toml" ? { variants } : { text: this.text };
      const data = await file({ what, from, ...asked });
      const address = URL.createObjectURL(data);
      element("a", { href: address, download: `tidegate.${what}` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      this.failed(error);
    }
  }
}

new Laboratory().begin().catch((error: unknown) => {
  const banner = place("banner");
  banner.hidden = false;
  banner.textContent = error instanceof Error ? error.message : String(error);
});
