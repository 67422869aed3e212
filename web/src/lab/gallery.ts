// Scenarios to begin with: templates, examples, and those in the folder that the server was given.
import { element } from "../shared/dom";

export interface Example {
  name: string;
  group: string;
  about: string;
  text: string;
}

export class Gallery {
  private readonly dialog = element("dialog", { id: "gallery", "aria-label": "Scenarios" });

  constructor(
    examples: Example[],
    files: string[],
    chosen: (text: string, examples: boolean) => void,
    file: (name: string) => void,
  ) {
    const close = element("button", { type: "button", click: () => this.dialog.close() }, "Close");
    this.dialog.append(element("header", {}, element("h2", {}, "Scenarios"), close));
    const card = (title: string, about: string, click: () => void) => {
      const button = element(
        "button",
        { type: "button", class: "card", click },
        element("strong", {}, title),
        about,
      );
      return element("li", {}, button);
    };
    const pick = (each: Example) => () => {
      this.dialog.close();
      chosen(each.text, true);
    };
    for (const [group, words] of [
      ["templates", "To begin with"],
      ["examples", "Examples"],
    ] as const) {
      const found = examples.filter((each) => each.group === group);
      const cards = found.map((each) => card(each.name, each.about, pick(each)));
      this.dialog.append(element("h3", {}, words), element("ul", { class: "cards" }, ...cards));
    }
    if (files.length) {
      const cards = files.map((name) =>
        card(name, "", () => {
          this.dialog.close();
          file(name);
        }),
      );
      this.dialog.append(
        element("h3", {}, "In your folder"),
        element("ul", { class: "cards" }, ...cards),
      );
    }
    document.body.append(this.dialog);
  }

  open(): void {
    this.dialog.showModal();
  }
}
