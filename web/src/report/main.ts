// What makes a report interactive; without it the page shows the same as tables and still pictures.
import "uplot/dist/uPlot.min.css";
import "./look.css";
import { Board } from "../shared/board";
import { cloud } from "../shared/cloud";
import { element } from "../shared/dom";
import type { Cloud, View } from "../shared/view";
import { lively } from "./tables";

function json<Kind>(id: string): Kind | null {
  const found = document.getElementById(id)?.textContent;
  return found ? (JSON.parse(found) as Kind) : null;
}

function stage(id: string): HTMLElement | null {
  const found = document.getElementById(id);
  found?.removeAttribute("hidden");
  return found;
}

function begin(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table.grid:not(.shares)"))
    lively(table);
  const view = json<View>("series");
  const board = stage("board");
  if (view && board) new Board(board, view);
  const points = json<Cloud>("points");
  const place = stage("cloud");
  if (points && place) cloud(place, points);
  if (board || place) fold();
  unfoldOnPaper();
}

/** Still pictures of what charts show are for paper: on the screen they are folded away, and there for who wants them. */
function fold(): void {
  for (const still of document.querySelectorAll(".still")) {
    // Elsewhere a picture is all that there is.
    if (!still.closest("section")?.querySelector("#board, #cloud")) continue;
    const details = element(
      "details",
      { class: "still" },
      element("summary", {}, "The still picture, as it prints"),
    );
    still.replaceWith(details);
    details.append(...still.childNodes);
  }
}

/** What is folded away is not lost on paper: scenario, command, every variant and the still pictures. */
function unfoldOnPaper(): void {
  const opened = new Set<HTMLDetailsElement>();
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll<HTMLDetailsElement>("details:not([open])")) {
      each.open = true;
      opened.add(each);
    }
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
    opened.clear();
  });
}

begin();
