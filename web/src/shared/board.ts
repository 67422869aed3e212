// Charts over one time axis: linked cursors, linked zoom, keys, and words for a screen reader.
import { bands } from "./bands";
import { type Chart, chart, type Linked } from "./chart";
import { unpacked } from "./columns";
import { element } from "./dom";
import type { View } from "./view";

let boards = 0;

export class Board {
  private charts: Chart[] = [];
  private from = 0;
  private to: number;
  private cursor: number;
  private end: number;
  private measured: number;
  private readonly shape: string;
  private readonly where = element("output", { class: "range", "aria-live": "off" });
  private readonly speech = element("p", { class: "unseen", "aria-live": "polite" });

  private readonly ended = new AbortController();
  private readonly watch = new ResizeObserver(() => this.resize());

  constructor(
    readonly host: HTMLElement,
    view: View,
    shown?: [number, number],
  ) {
    this.shape = shapeOf(view);
    this.end = view.end;
    this.measured = view.from;
    this.to = view.end;
    this.cursor = view.end / 2;
    host.append(this.bar(), this.speech);
    const columns = view.columns.map(unpacked);
    const linked: Linked = {
      key: `board-${++boards}`,
      end: view.end,
      measured: () => this.measured,
      zoomed: (from, to) => this.show(from, to),
    };
    if (view.bands) {
      const place = this.place(view.bands.title, "", view.bands.note);
      this.charts.push(bands(place, view.bands, columns, linked));
    }
    for (const panel of view.panels) {
      this.charts.push(
        chart(
          this.place(panel.title, panel.unit === "bytes" ? "" : panel.unit),
          panel,
          columns,
          linked,
        ),
      );
    }
    for (const note of view.notes) host.append(element("p", { class: "where" }, note));
    this.watch.observe(host);
    const redraw = () => {
      for (const each of this.charts) each.plot.redraw(false, true);
    };
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", redraw, { signal: this.ended.signal });
    this.show(...(shown ?? [0, this.end]), true);
  }

  /** What is shown, where it is a part of the run. */
  get part(): [number, number] | null {
    return this.to - this.from < this.end ? [this.from, this.to] : null;
  }

  /** Draws other numbers, where they are of the same charts and lines; false: they are not. */
  update(view: View): boolean {
    if (shapeOf(view) !== this.shape) return false;
    const whole = this.part === null || this.to > view.end;
    this.end = view.end;
    this.measured = view.from;
    const columns = view.columns.map(unpacked);
    for (const each of this.charts) each.update(view, columns, view.end);
    this.show(...((whole ? [0, view.end] : [this.from, this.to]) as [number, number]), true);
    return true;
  }

  destroy(): void {
    this.ended.abort();
    this.watch.disconnect();
    for (const each of this.charts) each.plot.destroy();
    this.host.replaceChildren();
  }

  /** Shows what lies between two instants, in every chart. */
  show(from: number, to: number, whatever = false): void {
    const span = Math.max(this.end * 1e-6, Math.min(this.end, to - from));
    const begin = Math.max(0, Math.min(from, this.end - span));
    if (!whatever && begin === this.from && begin + span === this.to) return;
    this.from = begin;
    this.to = begin + span;
    for (const each of this.charts) each.show(this.from, this.to);
    const measured = this.measured > 0 ? `, measured from ${this.measured} s` : "";
    this.where.value = `${short(this.from)} to ${short(this.to)} s${measured}`;
  }

  private zoom(factor: number): void {
    const span = (this.to - this.from) * factor;
    const inside = this.cursor > this.from && this.cursor < this.to;
    const middle = inside ? this.cursor : (this.from + this.to) / 2;
    const share = (middle - this.from) / (this.to - this.from);
    this.show(middle - share * span, middle + (1 - share) * span);
  }

  private shift(share: number): void {
    const step = (this.to - this.from) * share;
    this.show(this.from + step, this.to + step);
  }

  private bar(): HTMLElement {
    const button = (label: string, words: string, click: () => void) =>
      element("button", { type: "button", "aria-label": words, title: words, click }, label);
    return element(
      "div",
      { class: "bar-of-buttons", role: "toolbar", "aria-label": "Time shown" },
      button("−", "Zoom out", () => this.zoom(2)),
      button("+", "Zoom in", () => this.zoom(0.5)),
      button("←", "Earlier", () => this.shift(-0.25)),
      button("→", "Later", () => this.shift(0.25)),
      button("Whole run", "Show the whole run", () => this.show(0, this.end)),
      this.where,
    );
  }

  /** A focusable place for a chart; keys do what the mouse does. */
  private place(title: string, unit: string, note = ""): HTMLElement {
    const label = unit ? `${title}, ${unit}` : title;
    const place = element("div", {
      class: "chart",
      role: "group",
      tabindex: "0",
      "aria-label": `${label}. Arrow keys move the cursor, plus and minus zoom, 0 shows the whole run.`,
      keydown: (event) => this.key(event as KeyboardEvent),
    });
    place.append(element("h3", {}, title, unit ? element("small", {}, ` ${unit}`) : ""));
    if (note) place.append(element("p", { class: "where" }, note));
    this.host.append(place);
    return place;
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target !== event.currentTarget) return;
    const step = (this.to - this.from) / (event.shiftKey ? 10 : 100);
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.move(-step),
      ArrowRight: () => this.move(step),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      "0": () => this.show(0, this.end),
      Escape: () => this.show(0, this.end),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
    const own = this.charts.find((each) => each.host === event.currentTarget);
    this.speech.textContent = `${Number(this.cursor.toPrecision(4))} s. ${own?.at(this.cursor) ?? ""}`;
  }

  private move(step: number): void {
    this.cursor = Math.max(this.from, Math.min(this.to, this.cursor + step));
    for (const { plot } of this.charts) {
      const left = plot.valToPos(this.cursor, "x");
      plot.setCursor({ left, top: plot.over.clientHeight / 2 });
    }
  }

  private resize(): void {
    for (const each of this.charts) {
      const width = each.host.clientWidth;
      if (width > 0 && Math.abs(width - each.plot.width) > 1) {
        each.plot.setSize({ width, height: each.plot.height });
        each.show(this.from, this.to);
      }
    }
  }
}

const short = (value: number) => Number(value.toPrecision(4));

/** What the charts of a view are, without their numbers. */
function shapeOf({ panels, bands, notes }: View): string {
  const lines = panels.map(({ id, title, unit, lines: own }) => [
    [id, title, unit],
    own.map(({ name, colour, look, from, fit }) => [name, colour, look, from, fit]),
  ]);
  return JSON.stringify([
    lines,
    bands?.title,
    bands?.note,
    bands?.rows.map((row) => row.name),
    notes,
  ]);
}
