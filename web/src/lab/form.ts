// The form beside the text: a field for each value that stands there, made from the schema.
import { element } from "../shared/dom";
import type { Problem } from "./place";
import { quantity, STEPS, stepOf, stepped, written } from "./quantity";
import { at, bounds, isYesOrNo, keys, type Schema, words } from "./schema";
import { added, changed, type Entry, entries, plain, quoted } from "./toml";

/** Keys that change nothing here: a page records what its charts need. */
const LEFT_OUT = /^(title|record\..*)$/;

export class Form {
  private shape = "";
  private fields = new Map<string, (entry: Entry) => void>();
  private current: Entry[] = [];
  private text = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly schema: Schema,
    private readonly change: (text: string, settled: boolean) => void,
  ) {}

  /** Shows what the text says; fields stay where they are while only values change. */
  show(text: string): void {
    this.text = text;
    this.current = entries(text).filter((each) => !LEFT_OUT.test(each.path.join(".")));
    const shape = this.current
      .map((each) => `${each.path.join(".")}:${kindOf(each.raw)}`)
      .join("\n");
    if (shape !== this.shape) {
      this.shape = shape;
      this.build();
    }
    for (const entry of this.current) this.fields.get(entry.path.join("."))?.(entry);
  }

  /** Says at each field what is wrong with it; returns the first such field. */
  tell(problems: Problem[]): HTMLElement | null {
    for (const old of this.host.querySelectorAll(".row > .error")) old.remove();
    for (const old of this.host.querySelectorAll("[aria-invalid]")) {
      old.removeAttribute("aria-invalid");
      old.removeAttribute("aria-describedby");
    }
    let first: HTMLElement | null = null;
    for (const { key, problem, help } of problems) {
      const field = this.fieldOf(key ?? "");
      if (!field || field.hasAttribute("aria-invalid")) continue;
      const words = element("p", { class: "error", id: `${field.id}-error` }, problem);
      if (help) words.append(element("small", {}, ` ${help}`));
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", words.id);
      field.after(words);
      first ??= field;
    }
    return first;
  }

  /** The field of a key, or of the value that it is a part of. */
  private fieldOf(key: string): HTMLElement | null {
    const parts = key.split(".");
    for (let count = parts.length; count > 0; count--) {
      const found = document.getElementById(`field-${parts.slice(0, count).join(".")}`);
      if (found) return found;
    }
    return null;
  }

  private build(): void {
    this.fields.clear();
    const focused = document.activeElement?.id;
    const groups = new Map<string, Entry[]>();
    for (const entry of this.current) {
      const size = ["gate", "flow", "traffic", "pool", "calls"].includes(entry.path[0] ?? "")
        ? 2
        : 0;
      const name = entry.path.slice(0, size).join(".");
      groups.set(name, [...(groups.get(name) ?? []), entry]);
    }
    const built = [...groups].map(([name, found]) => {
      const table = name ? name.split(".") : [];
      const set = element("fieldset", {}, element("legend", {}, name.replace(".", " ") || "run"));
      for (const entry of found) set.append(this.field(entry, table.length));
      set.append(this.more(table, found));
      return set;
    });
    this.host.replaceChildren(...built);
    if (focused) document.getElementById(focused)?.focus();
  }

  private field(entry: Entry, depth: number): HTMLElement {
    const name = entry.path.join(".");
    const id = `field-${name}`;
    const schema = at(this.schema, entry.path) ?? {};
    const help = schema.description ?? "";
    const label = element("label", { for: id, title: help }, entry.path.slice(depth).join("."));
    const row = element("div", { class: "row" }, label);
    const send = (raw: string, settled: boolean) => {
      const here = this.current.find((each) => each.path.join(".") === name);
      if (here && here.raw !== raw) this.change(changed(this.text, here, raw), settled);
      else if (settled) this.change(this.text, true);
    };
    const choices = words(schema);
    if (isYesOrNo(schema)) this.tick(row, id, name, send);
    else if (choices.some((each) => each.word === plain(entry.raw)))
      this.choice(row, id, name, choices, send);
    else this.input(row, id, name, entry, schema, send);
    return row;
  }

  private tick(row: HTMLElement, id: string, name: string, send: Send): void {
    const box = element("input", { id, type: "checkbox" });
    box.addEventListener("change", () => send(String(box.checked), true));
    row.append(box);
    this.fields.set(name, (entry) => {
      box.checked = entry.raw === "true";
    });
  }

  private choice(
    row: HTMLElement,
    id: string,
    name: string,
    choices: { word: string; meaning: string }[],
    send: Send,
  ): void {
    const select = element("select", { id });
    for (const { word, meaning } of choices) {
      select.append(element("option", { value: word, title: meaning }, word));
    }
    select.addEventListener("change", () => send(quoted(select.value), true));
    row.append(select);
    this.fields.set(name, (entry) => {
      select.value = plain(entry.raw);
    });
  }

  private input(
    row: HTMLElement,
    id: string,
    name: string,
    first: Entry,
    schema: Schema,
    send: Send,
  ): void {
    const box = element("input", { id, type: "text", autocomplete: "off", spellcheck: "false" });
    const isText = /^["']/.test(first.raw);
    const raw = () => (isText ? quoted(box.value) : box.value.trim() || "0");
    box.addEventListener("input", () => send(raw(), false));
    box.addEventListener("change", () => send(raw(), true));
    row.append(box);
    const slider = this.slider(id, first, schema, send);
    if (slider) row.append(slider.host);
    this.fields.set(name, (entry) => {
      if (document.activeElement !== box) box.value = plain(entry.raw);
      slider?.show(entry);
    });
  }

  /** A slider from a tenth of what stands in the text to ten times of it. */
  private slider(id: string, first: Entry, schema: Schema, send: Send) {
    let like = quantity(first.raw);
    if (!like || first.path.join(".") === "seed") return null;
    let centre = like.value;
    const { least, most, whole } = bounds(schema);
    const integer = whole || like.unit.startsWith("packet");
    const label = `${first.path.join(" ")}, slider`;
    const host = element("input", {
      id: `${id}-slider`,
      type: "range",
      min: 0,
      max: STEPS,
      "aria-label": label,
    });
    let dragging = false;
    const raw = () =>
      like
        ? written(
            stepped(Number(host.value), centre, Math.max(least, integer ? 1 : 0), most),
            like,
            integer,
          )
        : "";
    host.addEventListener("input", () => {
      dragging = true;
      send(raw(), false);
    });
    host.addEventListener("change", () => {
      send(raw(), true);
      dragging = false;
    });
    const show = (entry: Entry) => {
      const now = quantity(entry.raw);
      if (!now) return;
      if (
        !dragging &&
        (now.unit !== like?.unit || now.value > 10 * centre || now.value < centre / 10)
      ) {
        centre = now.value;
      }
      like = now;
      if (!dragging) host.value = String(stepOf(now.value, centre));
      host.setAttribute("aria-valuetext", plain(entry.raw));
    };
    return { host, show };
  }

  /** Keys that the table may have besides. */
  private more(table: string[], found: Entry[]): HTMLElement {
    const there = new Set(found.map((entry) => entry.path[table.length]));
    const select = element("select", {
      "aria-label": `Add a key to ${table.join(" ") || "the run"}`,
    });
    select.append(element("option", { value: "" }, "add a key …"));
    for (const { key, meaning, raw } of keys(this.schema, table)) {
      if (!there.has(key) && raw)
        select.append(element("option", { value: key, title: meaning }, key));
    }
    select.addEventListener("change", () => {
      const chosen = keys(this.schema, table).find((each) => each.key === select.value);
      if (chosen) this.change(added(this.text, [...table, chosen.key], chosen.raw), true);
    });
    return element("div", { class: "row more" }, select);
  }
}

type Send = (raw: string, settled: boolean) => void;

/** Fields are made anew where a value becomes another kind. */
function kindOf(raw: string): string {
  if (raw === "true" || raw === "false") return "yes or no";
  if (raw.startsWith("[")) return "list";
  return raw.startsWith('"') || raw.startsWith("'") ? "text" : "number";
}
