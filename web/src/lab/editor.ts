// The text of the scenario, with its lines numbered and what is wrong written under them.
import { element } from "../shared/dom";
import type { Problem } from "./place";
import { at, keys, type Schema, words } from "./schema";
import { entries } from "./toml";

export class Editor {
  readonly area = element("textarea", {
    id: "text",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    wrap: "off",
    "aria-label": "The scenario, TOML. Control and space completes a key or a word.",
    "aria-describedby": "problems",
  });
  private readonly gutter = element("div", { class: "gutter", "aria-hidden": "true" });
  private readonly under = element("div", { class: "under", "aria-hidden": "true" });
  private readonly list = element("div", { id: "problems", role: "status" });
  private readonly offers = element("ul", {
    class: "offers",
    role: "listbox",
    "aria-label": "Keys",
    hidden: true,
  });

  constructor(
    host: HTMLElement,
    private readonly schema: () => Schema | null,
    private readonly change: (text: string, settled: boolean) => void,
  ) {
    host.append(
      element("div", { class: "editor" }, this.gutter, this.area, this.under),
      this.offers,
      this.list,
    );
    this.area.addEventListener("input", () => this.typed(false));
    this.area.addEventListener("change", () => this.typed(true));
    this.area.addEventListener("scroll", () => this.scrolled());
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.offers.addEventListener("keydown", (event) => this.pick(event));
    this.area.addEventListener("blur", () => setTimeout(() => this.close(), 200));
  }

  get text(): string {
    return this.area.value;
  }

  show(text: string): void {
    if (this.area.value !== text) {
      const { selectionStart, scrollTop } = this.area;
      this.area.value = text;
      this.area.scrollTop = scrollTop;
      if (document.activeElement === this.area)
        this.area.setSelectionRange(selectionStart, selectionStart);
    }
    this.number();
  }

  /** Writes each problem under its line, and all of them below the text. */
  tell(problems: Problem[]): void {
    const wrong = new Set(problems.map((each) => each.line));
    [...this.gutter.children].forEach((line, place) => {
      line.classList.toggle("wrong", wrong.has(place + 1));
    });
    this.area.setAttribute("aria-invalid", String(problems.length > 0));
    this.under.replaceChildren(
      ...problems.flatMap((each) =>
        each.line
          ? [
              element(
                "p",
                { style: `top: calc(${each.line} * var(--line))` },
                `${each.problem}${each.help ? ` – ${each.help}` : ""}`,
              ),
            ]
          : [],
      ),
    );
    this.list.replaceChildren(
      ...problems.map((each) => {
        const words = `${each.key ? `${each.key}: ` : ""}${each.problem}`;
        const help = each.help ? element("small", {}, ` ${each.help}`) : "";
        if (!each.line) return element("p", { class: "error" }, words, help);
        const go = element(
          "button",
          { type: "button", click: () => this.go(each) },
          `line ${each.line}`,
        );
        return element("p", { class: "error" }, go, ` ${words}`, help);
      }),
    );
    this.scrolled();
  }

  private go(problem: Problem): void {
    const lines = this.area.value.split("\n");
    const before = lines.slice(0, (problem.line ?? 1) - 1).join("\n").length + 1;
    const place = Math.max(0, before + (problem.column ?? 1) - 1);
    this.area.focus();
    this.area.setSelectionRange(place, place + (problem.read?.length ?? 0));
  }

  private typed(settled: boolean): void {
    this.number();
    // What settles the text is that it loses the focus, to the offers perhaps.
    if (!settled) this.close();
    this.change(this.area.value, settled);
  }

  private number(): void {
    const count = this.area.value.split("\n").length;
    while (this.gutter.children.length > count) this.gutter.lastChild?.remove();
    while (this.gutter.children.length < count) {
      this.gutter.append(element("span", {}, String(this.gutter.children.length + 1)));
    }
    this.scrolled();
  }

  private scrolled(): void {
    this.gutter.style.transform = `translateY(${-this.area.scrollTop}px)`;
    this.under.style.transform = `translateY(${-this.area.scrollTop}px)`;
  }

  private key(event: KeyboardEvent): void {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.offer();
    } else if (event.key === "Escape" && !this.offers.hidden) {
      event.preventDefault();
      this.close();
    } else if (event.key === "ArrowDown" && !this.offers.hidden) {
      event.preventDefault();
      this.offers.querySelector("button")?.focus();
    }
  }

  private close(): void {
    if (!this.offers.contains(document.activeElement)) this.offers.hidden = true;
  }

  /** Offers what the schema knows at the cursor: words for a value, else keys of the table. */
  private offer(): void {
    const schema = this.schema();
    if (!schema) return;
    const before = this.area.value.slice(0, this.area.selectionStart);
    const found = offers(schema, before);
    this.offers.replaceChildren(
      ...found.map(({ word, meaning, insert }) => {
        const click = () => this.insert(insert);
        const button = element("button", { type: "button", role: "option", click }, word);
        return element("li", { role: "presentation" }, button, element("small", {}, ` ${meaning}`));
      }),
    );
    const line = Number.parseFloat(getComputedStyle(this.area).lineHeight) || 20;
    const down = before.split("\n").length * line - this.area.scrollTop + 4;
    this.offers.style.top = `${Math.max(line, Math.min(down, this.area.clientHeight))}px`;
    this.offers.hidden = found.length === 0;
  }

  /** In the list: arrows move, Escape goes back to the text. */
  private pick(event: KeyboardEvent): void {
    const buttons = [...this.offers.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" || (step === -1 && at === 0)) this.area.focus();
    else if (step !== undefined) buttons[at + step]?.focus();
    else return;
    event.preventDefault();
    if (event.key === "Escape") this.close();
  }

  private insert(words: string): void {
    const at = this.area.selectionStart;
    // A quote that stands there closes the word already.
    const closes = words.endsWith('"') && this.area.value[at] === '"';
    this.area.setRangeText(closes ? words.slice(0, -1) : words, at, at, "end");
    this.offers.hidden = true;
    this.area.focus();
    this.typed(false);
  }
}

interface Offer {
  word: string;
  meaning: string;
  /** What is missing of it at the cursor. */
  insert: string;
}

/** What may stand at the end of a text. */
export function offers(schema: Schema, before: string): Offer[] {
  const value = /^(.*[^\w.-])?([\w.-]+)[ \t]*=[ \t]*("?)([\w-]*)$/.exec(
    before.slice(before.lastIndexOf("\n") + 1),
  );
  if (value) {
    const [, , key = "", quote, begun = ""] = value;
    const head = before.slice(0, before.length - (quote?.length ?? 0) - begun.length);
    const path = entries(`${head}1`).at(-1)?.path;
    const known = path?.at(-1) === key.split(".").at(-1) ? at(schema, path ?? []) : null;
    return words(known ?? {})
      .filter(({ word }) => word.startsWith(begun))
      .map(({ word, meaning }) => {
        const rest = `${word.slice(begun.length)}"`;
        return { word, meaning, insert: quote || begun ? rest : `"${rest}` };
      });
  }
  const begun = /[\w.-]*$/.exec(before)?.[0] ?? "";
  const above = entries(`${before.slice(0, before.length - begun.length).trimEnd()}\n__here = 1`);
  const table = above.find((each) => each.path.at(-1) === "__here")?.path.slice(0, -1) ?? [];
  const parts = begun.split(".");
  const start = parts.pop() ?? "";
  return keys(schema, [...table, ...parts])
    .filter(({ key }) => key.startsWith(start))
    .map(({ key, meaning, raw }) => {
      return { word: key, meaning, insert: `${key.slice(start.length)} = ${raw || '""'}` };
    });
}
