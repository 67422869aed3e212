// One number against another: a mark for each variant or point, with what it is on hover and on focus.
import { element, told, vector } from "./dom";
import type { Cloud } from "./view";

const [TALL, LEFT, BELOW, ABOVE, RIGHT] = [360, 64, 44, 12, 16];
/** The picture is as wide as its place, within these bounds, so that letters keep their size. */
const [NARROWEST, WIDEST] = [330, 760];
/** Letters of names: their height, and their mean width. */
const [LETTER_TALL, LETTER_WIDE] = [12, 6.3];
/** Marks that have their names beside them. */
const NAMED = 12;
type Mark = { label: string; x: number[]; y: number[] };

let clouds = 0;

/** Which numbers are drawn, for a cloud that comes after. */
export interface Chosen {
  x?: string;
  y?: string;
}

export function cloud(host: HTMLElement, of: Cloud, chosenBefore: Chosen = {}): void {
  const number = ++clouds;
  const placeOf = (name: string | undefined, usual: number) => {
    const found = of.metrics.findIndex((metric) => metric.name === name);
    return found < 0 ? usual : found;
  };
  const choice = (axis: "x" | "y") => {
    const chosen = placeOf(chosenBefore[axis], of[axis]);
    const select = element("select", { id: `cloud-${number}-${axis}` });
    of.metrics.forEach((metric, place) => {
      const option = element("option", { value: place }, metric.label);
      option.selected = place === chosen;
      select.append(option);
    });
    select.addEventListener("change", () => {
      chosenBefore[axis] = of.metrics[Number(select.value)]?.name ?? "";
      draw();
    });
    const label = element("label", { for: select.id }, `${axis === "x" ? "Across" : "Upwards"} `);
    return { select, box: element("span", { class: "field" }, label, select) };
  };
  const x = choice("x");
  const y = choice("y");
  const place = element("div", {
    class: "wide",
    tabindex: "0",
    role: "group",
    "aria-label": "One mark for each",
  });
  const words = element("p", { class: "told", "aria-live": "polite" });
  host.append(element("div", { class: "fields" }, y.box, x.box), place, words);
  let drawn = 0;
  draw();
  new ResizeObserver(() => {
    if (place.isConnected && Math.abs(width() - drawn) > 8) draw();
  }).observe(place);

  function width(): number {
    return Math.round(Math.min(WIDEST, Math.max(NARROWEST, place.clientWidth || WIDEST)));
  }

  function draw(): void {
    const [across, up] = [Number(x.select.value), Number(y.select.value)];
    const marks = of.points.flatMap((point) => {
      const [a, b] = [point.values[across], point.values[up]];
      const known = (each: (number | null)[]) => each.filter((value) => value !== null);
      return a && b ? [{ label: point.label, x: known(a), y: known(b) }] : [];
    });
    const labels = [of.metrics[across]?.label ?? "", of.metrics[up]?.label ?? ""] as const;
    drawn = width();
    place.replaceChildren(
      marks.length ? picture(marks, labels, words, drawn) : "No point has both numbers.",
    );
    words.textContent = "";
  }
}

function picture(
  marks: Mark[],
  labels: readonly [string, string],
  words: HTMLElement,
  wide: number,
): SVGElement {
  const across = scale(
    marks.flatMap((mark) => mark.x),
    LEFT,
    wide - RIGHT,
  );
  const up = scale(
    marks.flatMap((mark) => mark.y),
    TALL - BELOW,
    ABOVE,
  );
  const svg = vector("svg", {
    viewBox: `0 0 ${wide} ${TALL}`,
    style: `max-width: ${wide}px`,
    class: "cloud",
    role: "group",
    "aria-label": `${labels[1]} against ${labels[0]}`,
  });
  for (const tick of across.ticks) {
    const at = across.at(tick);
    svg.append(
      vector("line", { x1: at, x2: at, y1: ABOVE, y2: TALL - BELOW, class: "grid-line" }),
      vector("text", { x: at, y: TALL - BELOW + 16, "text-anchor": "middle" }, told(tick)),
    );
  }
  for (const tick of up.ticks) {
    const at = up.at(tick);
    svg.append(
      vector("line", { y1: at, y2: at, x1: LEFT, x2: wide - RIGHT, class: "grid-line" }),
      vector("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, told(tick)),
    );
  }
  svg.append(
    vector("text", { x: (LEFT + wide) / 2, y: TALL - 6, "text-anchor": "middle" }, labels[0]),
    vector(
      "text",
      {
        x: 0,
        y: 0,
        "text-anchor": "middle",
        transform: `translate(13 ${(TALL - BELOW) / 2}) rotate(-90)`,
      },
      labels[1],
    ),
  );
  const named = marks.length <= NAMED ? marks : [];
  const names = placed(named, across.at, up.at, wide);
  for (const mark of marks) svg.append(drawn(mark, across.at, up.at, labels, words));
  svg.append(...names);
  return svg;
}

interface Box {
  left: number;
  top: number;
  wide: number;
}

/** Names beside their marks, where there is room: what would lie on another one is left to the words below. */
function placed(
  marks: Mark[],
  across: (value: number) => number,
  up: (value: number) => number,
  wide: number,
): SVGElement[] {
  const taken: Box[] = marks.map((mark) => {
    return {
      left: across(mark.x[0] ?? 0) - 6,
      top: up(mark.y[0] ?? 0) - LETTER_TALL / 2,
      wide: 12,
    };
  });
  const meets = (a: Box, b: Box) =>
    a.left < b.left + b.wide && b.left < a.left + a.wide && Math.abs(a.top - b.top) < LETTER_TALL;
  return marks.flatMap((mark) => {
    const [x, y] = [across(mark.x[0] ?? 0), up(mark.y[0] ?? 0)];
    const room = mark.label.length * LETTER_WIDE;
    const box = [
      { left: x + 9, top: y - 18 },
      { left: x - 9 - room, top: y - 18 },
      { left: x + 9, top: y + 5 },
      { left: x - 9 - room, top: y + 5 },
    ]
      .map((each) => ({ ...each, wide: room }))
      .find(
        (each) =>
          each.left > LEFT &&
          each.left + room < wide &&
          each.top > 0 &&
          !taken.some((other) => meets(each, other)),
      );
    if (!box) return [];
    taken.push(box);
    return [vector("text", { x: box.left, y: box.top + 10, class: "name" }, mark.label)];
  });
}

function drawn(
  mark: Mark,
  across: (value: number) => number,
  up: (value: number) => number,
  labels: readonly [string, string],
  words: HTMLElement,
): SVGElement {
  const [x, y] = [across(mark.x[0] ?? 0), up(mark.y[0] ?? 0)];
  const interval = (each: number[]) =>
    each.length === 3 ? ` (${told(each[1])} to ${told(each[2])})` : "";
  const text = `${mark.label}: ${labels[1]} ${told(mark.y[0])}${interval(mark.y)}; ${labels[0]} ${told(mark.x[0])}${interval(mark.x)}`;
  const group = vector("g", { class: "mark", tabindex: "0", role: "img", "aria-label": text });
  if (mark.x.length === 3) {
    group.append(
      vector("line", { x1: across(mark.x[1] ?? 0), x2: across(mark.x[2] ?? 0), y1: y, y2: y }),
    );
  }
  if (mark.y.length === 3) {
    group.append(vector("line", { x1: x, x2: x, y1: up(mark.y[1] ?? 0), y2: up(mark.y[2] ?? 0) }));
  }
  group.append(vector("circle", { cx: x, cy: y, r: 12, class: "reach" }));
  group.append(vector("circle", { cx: x, cy: y, r: 5, class: "dot" }));
  const tell = () => {
    words.textContent = text;
  };
  group.addEventListener("mouseenter", tell);
  group.addEventListener("focus", tell);
  group.addEventListener("click", tell);
  return group;
}

/** A scale from 0 where the least is far below the largest, with four to eight round ticks. */
function scale(values: number[], begin: number, end: number) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = most - least || Math.abs(most) || 1;
  const low = least >= 0 && least < 0.5 * most ? 0 : least - 0.12 * room;
  const high = most + 0.08 * room;
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step); tick * step <= high; tick++) {
    ticks.push(Number((tick * step).toPrecision(12)));
  }
  const at = (value: number) => begin + ((value - low) / (high - low)) * (end - begin);
  return { ticks, at };
}
