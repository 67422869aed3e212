// Recorded links of the user's own, for a page without a server: their bytes stay in the page.
import { element } from "../shared/dom";

/** Bytes of the largest one. */
const LARGEST = 64_000_000;

export class Traces {
  private readonly list = element("span", { class: "where", "aria-live": "polite" });

  constructor(
    host: HTMLElement,
    private readonly chosen: Map<string, Uint8Array>,
    private readonly changed: () => void,
    private readonly failed: (message: string) => void,
  ) {
    const field = element("input", { type: "file", id: "traces", multiple: true, class: "unseen" });
    field.addEventListener("change", () => this.take([...(field.files ?? [])]));
    const button = element(
      "button",
      { type: "button", id: "choose-traces", click: () => field.click() },
      "Use a trace of mine …",
    );
    field.tabIndex = -1;
    field.setAttribute("aria-label", "Recorded links; they stay in this page");
    host.append(button, field, this.list);
    host.hidden = false;
  }

  private async take(files: File[]): Promise<void> {
    for (const file of files) {
      if (file.size > LARGEST) {
        const size = Math.round(file.size / 1e6);
        this.failed(
          `${file.name}: ${size} MB; a page takes ${LARGEST / 1e6} MB (tidegate lab: more)`,
        );
        continue;
      }
      this.chosen.set(file.name, new Uint8Array(await file.arrayBuffer()));
    }
    const names = [...this.chosen.keys()].map((name) => `rate.trace = "${name}"`);
    this.list.textContent = names.length ? `In this page: ${names.join(", ")}` : "";
    this.changed();
  }
}
