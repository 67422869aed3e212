// One number against another: a mark for each variant or point, with what it is on hover and on focus.
import { element, told, vector } from "./dom";
import type { Cloud } from "./view";

const [WIDE, TALL, LEFT, BELOW, ABOVE, RIGHT] = [640, 360, 64, 44, 12, 16];
/** Marks that have their names beside them. */
const NAMED = 12;
type Mark = { label: string; x: number[]; y: number[] };

let clouds = 0;

export function cloud(host: HTMLElement, of: Cloud): void {
  const number = ++clouds;
  const choice = (axis: string, chosen: number) => {
    const select = element("select", { id: `cloud-${number}-${axis}` });
    of.metrics.forEach((metric, place) => {
      const option = element("option", { value: place }, metric.label);
      option.selected = place === chosen;
      select.append(option);
    });
    select.addEventListener("change", draw);
    const label = element("label", { for: select.id }, `${axis === "x" ? "Across" : "Upwards"} `);
    return { select, box: element("span", { class: "field" }, label, select) };
  };
  const x = choice("x", of.x);
  const y = choice("y", of.y);
  const place = element("div", {
    class: "wide",
    tabindex: "0",
    role: "group",
    "aria-label": "One mark for each",
  });
  const words = element("p", { class: "told", "aria-live": "polite" });
  host.append(element("div", { class: "fields" }, y.box, x.box), place, words);
  draw();

  function draw(): void {
    const [across, up] = [Number(x.select.value), Number(y.select.value)];
    const marks = of.points.flatMap((point) => {
      const [a, b] = [point.values[across], point.values[up]];
      const known = (each: (number | null)[]) => each.filter((value) => value !== null);
      return a && b ? [{ label: point.label, x: known(a), y: known(b) }] : [];
    });
    const labels = [of.metrics[across]?.label ?? "", of.metrics[up]?.label ?? ""] as const;
    place.replaceChildren(
      marks.length ? picture(marks, labels, words) : "No point has both numbers.",
    );
    words.textContent = "";
  }
}

function picture(marks: Mark[], labels: readonly [string, string], words: HTMLElement): SVGElement {
  const across = scale(
    marks.flatMap((mark) => mark.x),
    LEFT,
    WIDE - RIGHT,
  );
  const up = scale(
    marks.flatMap((mark) => mark.y),
    TALL - BELOW,
    ABOVE,
  );
  const svg = vector("svg", {
    viewBox: `0 0 ${WIDE} ${TALL}`,
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
      vector("line", { y1: at, y2: at, x1: LEFT, x2: WIDE - RIGHT, class: "grid-line" }),
      vector("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, told(tick)),
    );
  }
  svg.append(
    vector("text", { x: (LEFT + WIDE) / 2, y: TALL - 6, "text-anchor": "middle" }, labels[0]),
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
  for (const mark of marks)
    svg.append(drawn(mark, across.at, up.at, labels, words, marks.length <= NAMED));
  return svg;
}

function drawn(
  mark: Mark,
  across: (value: number) => number,
  up: (value: number) => number,
  labels: readonly [string, string],
  words: HTMLElement,
  named: boolean,
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
  const left = x > 0.7 * WIDE;
  const beside = { x: left ? x - 9 : x + 9, y: y - 8, "text-anchor": left ? "end" : "start" };
  if (named) group.append(vector("text", beside, mark.label));
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
