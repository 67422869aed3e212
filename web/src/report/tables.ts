// Tables that sort and filter: each head is a button, and long tables have a field to search in.
import { element } from "../shared/dom";

/** Rows from which a table has a field. */
const MANY = 6;

let tables = 0;

export function lively(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  if (!body || body.rows.length < 2 || !heads.length) return;
  const first = [...body.rows];
  heads.forEach((head, column) => {
    if (!head.textContent?.trim()) return;
    const button = element("button", { type: "button", class: "sort" }, ...head.childNodes);
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const next = before === "none" ? "ascending" : before === "ascending" ? "descending" : "none";
      for (const each of heads)
        if (each.hasAttribute("aria-sort")) each.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", next);
      body.append(...sorted(first, column, next));
    });
  });
  if (first.length >= MANY) addFilter(table, first);
}

export function sorted(
  rows: HTMLTableRowElement[],
  column: number,
  order: string,
): HTMLTableRowElement[] {
  if (order === "none") return rows;
  const sign = order === "ascending" ? 1 : -1;
  const text = (row: HTMLTableRowElement) => row.cells[column]?.textContent?.trim() ?? "";
  const compared = (a: string, b: string): number => {
    const [x, y] = [numberIn(a), numberIn(b)];
    if (x !== null && y !== null) return sign * (x - y);
    // What has no number stands last, whichever way the numbers go.
    if (x !== null || y !== null) return x !== null ? -1 : 1;
    return sign * a.localeCompare(b, "en", { numeric: true });
  };
  return rows.toSorted((a, b) => compared(text(a), text(b)));
}

const POWERS: Record<string, number> = { k: 1e3, M: 1e6, G: 1e9 };

/** The number that a cell begins with: "4.1%", "12.3 ± 0.4", "−3", "10 Mbit/s". */
export function numberIn(text: string): number | null {
  const found = /^[+]?([-−]?\d[\d\u202f ]*(?:\.\d+)?(?:e[-+]?\d+)?)\s*([kMG](?=bit))?/.exec(text);
  if (!found?.[1]) return null;
  const value = Number(found[1].replace("−", "-").replaceAll(/[\u202f ]/g, ""));
  return value * (POWERS[found[2] ?? ""] ?? 1);
}

function addFilter(table: HTMLTableElement, rows: HTMLTableRowElement[]): void {
  const id = `filter-${++tables}`;
  const count = element("output", { class: "where", "aria-live": "polite" });
  const field = element("input", { id, type: "search", autocomplete: "off", spellcheck: "false" });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const text = [...row.cells]
        .map((cell) => cell.textContent)
        .join(" ")
        .toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      left += row.hidden ? 0 : 1;
    }
    count.value = words.length ? `${left} of ${rows.length} rows` : "";
  });
  const box = element(
    "div",
    { class: "fields" },
    element("label", { for: id }, "Rows with "),
    field,
    count,
  );
  (table.closest(".wide") ?? table).before(box);
}
