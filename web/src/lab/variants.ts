// Some scenarios side by side: those that are kept, and the one that is edited.
import { element } from "../shared/dom";
import { entries, plain } from "./toml";

export interface Variant {
  name: string;
  text: string;
}

export class Variants {
  /** The texts that are kept, the first one first. */
  kept: string[] = [];
  /** Scenarios side by side. */
  most = 2;
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

  /** Keeps what an address has kept. */
  restore(texts: string[]): void {
    this.kept = texts.slice(0, this.most - 1);
    this.show();
  }

  /** What is compared: each kept one and the edited one, named by their values of what differs between them. */
  all(): Variant[] {
    if (!this.kept.length) return [];
    const texts = [...this.kept, this.text()];
    const names = differences(texts).map((name) => name || "first");
    return texts.map((text, place) => ({ text, name: named(names, place, texts.length) }));
  }

  private add(): void {
    this.kept.push(this.text());
    this.show();
    this.changed();
  }

  /** Names the kept ones anew: their names say what differs from the one that is edited. */
  show(): void {
    const names = this.all();
    this.list.replaceChildren(
      ...this.kept.map((text, place) => {
        const name = names[place]?.name ?? "";
        const remove = () => {
          this.kept.splice(place, 1);
          this.show();
          this.changed();
        };
        const open = () => this.open(text);
        return element(
          "li",
          {},
          element("button", { type: "button", title: "Edit this one", click: open }, name),
          element("button", { type: "button", "aria-label": `Remove ${name}`, click: remove }, "×"),
        );
      }),
    );
    this.keep.disabled = this.kept.length >= this.most - 1;
  }
}

/** Equal names are told apart, and the last one is the one that is edited. */
function named(names: string[], place: number, count: number): string {
  const name = names[place] ?? "";
  const said = name.length > 48 ? `${name.slice(0, 47)}…` : name;
  if (place === count - 1) return `now: ${said === "first" ? "as the first" : said}`;
  return names.indexOf(name) === place ? said : `${said} (${place + 1})`;
}

/** For each text its values of the keys that differ between the texts. */
function differences(texts: string[]): string[] {
  const found = texts.map(
    (text) => new Map(entries(text).map((each) => [each.path.join("."), each] as const)),
  );
  const keys = [...new Set(found.flatMap((each) => [...each.keys()]))].filter(
    (key) => new Set(found.map((each) => each.get(key)?.raw)).size > 1,
  );
  const short = (path: string[]) => path.slice(2).join(".") || path.join(".");
  return found.map((each) =>
    keys
      .map((key) => {
        const entry = each.get(key);
        return entry ? `${short(entry.path)} ${plain(entry.raw)}` : `without ${key}`;
      })
      .join(", "),
  );
}
