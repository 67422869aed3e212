// Up to four scenarios side by side: three that are kept, and the one that is edited.
import { element } from "../shared/dom";
import { entries, plain } from "./toml";

export interface Variant {
  name: string;
  text: string;
}

const MOST = 4;

export class Variants {
  kept: Variant[] = [];
  private readonly list = element("ul", { class: "variants", "aria-label": "Kept variants" });
  private readonly keep = element("button", { type: "button", id: "keep" }, "Keep as variant");

  constructor(
    host: HTMLElement,
    private readonly text: () => string,
    private readonly changed: () => void,
    private readonly open: (text: string) => void,
  ) {
    this.keep.addEventListener("click", () => this.add());
    host.append(this.keep, this.list);
  }

  /** What is compared: each kept one and the edited one, named by what differs from the first. */
  all(): Variant[] {
    const first = this.kept[0];
    if (!first) return [];
    const texts = [...this.kept.map((each) => each.text), this.text()];
    const names = texts.map((text) => difference(first.text, text) || "first");
    return texts.map((text, place) => ({ text, name: named(names, place, texts.length) }));
  }

  private add(): void {
    this.kept.push({ name: "", text: this.text() });
    this.show();
    this.changed();
  }

  private show(): void {
    const names = this.all();
    this.list.replaceChildren(
      ...this.kept.map((variant, place) => {
        const name = names[place]?.name ?? "";
        const remove = () => {
          this.kept.splice(place, 1);
          this.show();
          this.changed();
        };
        const open = () => this.open(variant.text);
        return element(
          "li",
          {},
          element("button", { type: "button", title: "Edit this one", click: open }, name),
          element("button", { type: "button", "aria-label": `Remove ${name}`, click: remove }, "×"),
        );
      }),
    );
    this.keep.disabled = this.kept.length >= MOST - 1;
  }
}

/** Equal names are told apart, and the last one is the one that is edited. */
function named(names: string[], place: number, count: number): string {
  const name = names[place] ?? "";
  const said = name.length > 48 ? `${name.slice(0, 47)}…` : name;
  if (place === count - 1) return `now: ${said === "first" ? "as the first" : said}`;
  return names.indexOf(name) === place ? said : `${said} (${place + 1})`;
}

/** The keys of a text that differ from another's, with their values. */
function difference(from: string, to: string): string {
  const before = new Map(entries(from).map((each) => [each.path.join("."), each.raw]));
  const after = entries(to);
  const found = after.filter((each) => before.get(each.path.join(".")) !== each.raw);
  const names = new Set(after.map((each) => each.path.join(".")));
  const gone = [...before.keys()].filter((key) => !names.has(key));
  const short = (path: string[]) => path.slice(2).join(".") || path.join(".");
  return [
    ...found.map((each) => `${short(each.path)} ${plain(each.raw)}`),
    ...gone.map((key) => `without ${key}`),
  ].join(", ");
}
