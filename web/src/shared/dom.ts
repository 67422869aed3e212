// Elements in one line each.

type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false) made.setAttribute(key, String(value));
  }
  made.append(...children);
  return made;
}

export function vector(
  name: string,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** The value of a custom property of the page's look. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A number with four digits. */
export function told(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Math.abs(value) >= 1000)
    return Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
  if (Math.abs(value) < 1e-3) return String(Number(value.toPrecision(2)));
  return String(Number(value.toPrecision(4)));
}
