// A report of what is shown as one page that loads nothing, like those of `tidegate run --report`.
import { packed } from "../inside/pack";
import type { View } from "../shared/view";
import { picture } from "./picture";
import type { Asked } from "./place";
import type { Results } from "./results";

/** Digits of an instant. */
const TIME_DIGITS = 12;

export async function page(shown: Results, asked: Asked, version: string): Promise<Blob> {
  const [look, script, licences] = await Promise.all(
    ["report.css", "report.js", "LICENSES.txt"].map(async (name) => (await fetch(name)).text()),
  );
  const image = await dataAddress(await picture(shown.stage, shown.title));
  const scenarios = asked.variants.length ? asked.variants : [{ name: "", text: asked.text }];
  const listings = scenarios.map(
    ({ name, text }) =>
      `<details><summary>${escaped(name ? `Scenario: ${name}` : "Scenario")}</summary><pre>${escaped(text)}</pre></details>`,
  );
  const text = `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<title>${escaped(shown.title)}</title><style>${look}</style></head><body>
<header><h1>${escaped(shown.title)}</h1><p class="source">Tidegate ${escaped(version)}, in a browser</p></header>
<main><section><h2>Results</h2>${shown.tables()}</section>
<section><h2>Over time</h2><div id="board" hidden></div>
<figure class="still"><img alt="The same lines as a picture" style="max-width: 100%" src="${image}"></figure></section>
${shown.cloud ? '<section class="scripted"><h2>One number against another</h2><div id="cloud" hidden></div></section>' : ""}
<section>${listings.join("\n")}</section></main>
${data("numbers", shown.numbers())}
${shown.view ? data("series", short(shown.view)) : ""}
${shown.cloud ? data("points", shown.cloud) : ""}
<script>${script}</script>
<!--
${licences}-->
</body></html>
`;
  return new Blob([text], { type: "text/html" });
}

/** The columns as text; instants keep more digits. */
function short(view: View): View {
  const times = new Set([
    view.bands?.x,
    ...view.panels.flatMap((panel) => [panel.x, ...panel.marks.map((mark) => mark.at)]),
  ]);
  const columns = view.columns.map((column, place) =>
    column instanceof Float64Array
      ? packed(column, times.has(place) ? TIME_DIGITS : undefined)
      : column,
  );
  return { ...view, columns };
}

function data(id: string, what: unknown): string {
  // Inside a script element "</" would end it.
  const text = JSON.stringify(what).replaceAll("<", "\\u003c");
  return `<script type="application/json" id="${id}">${text}</script>`;
}

function escaped(text: string): string {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replaceAll(/[&<>"]/g, (sign) => signs[sign] ?? sign);
}

function dataAddress(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(new Error("the picture could not be read")));
    reader.readAsDataURL(blob);
  });
}
