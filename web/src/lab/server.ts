// The server of `tidegate lab` as the place of answers. The page's address has the token, so addresses here are relative.

import { events } from "./events";
import type { Example } from "./gallery";
import { type Asked, type Heard, type Kind, luck, type Place, Refusal, type Start } from "./place";
import type { Answer, Comparison } from "./results";
import type { Schema } from "./schema";

/** This tab: its newest run takes the place of the one before, and of no other tab's. */
const PAGE = Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) =>
  each.toString(36),
).join("");

async function answered(path: string, init?: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`api/${path}`, init);
  } catch (error) {
    throw silent(error);
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({ error: answer.statusText }));
  throw new Refusal(answer.status, told.error, told.problems ?? []);
}

function silent(error: unknown): Refusal {
  return error instanceof DOMException && error.name === "AbortError"
    ? new Refusal(409, "stopped")
    : new Refusal(0, "The server does not answer.");
}

async function get<Found>(path: string): Promise<Found> {
  return (await answered(path)).json();
}

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return answered(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ page: PAGE, ...body }),
    ...(signal ? { signal } : {}),
  });
}

const from = (asked: Asked) => (asked.examples ? "examples" : "folder");

export class Server implements Place {
  readonly kinds: Kind[] = ["toml", "json", "png", "svg", "html"];

  start(): Promise<Start> {
    return get("start");
  }

  schema(): Promise<Schema> {
    return get("schema");
  }

  async gallery(): Promise<Example[]> {
    return (await get<{ examples: Example[] }>("gallery")).examples;
  }

  async file(name: string): Promise<string> {
    return (await get<{ text: string }>(`file?name=${encodeURIComponent(name)}`)).text;
  }

  async run(asked: Asked, signal: AbortSignal): Promise<Answer> {
    return (
      await post("run", { text: asked.text, from: from(asked), ...luck(asked) }, signal)
    ).json();
  }

  async compare(asked: Asked, signal: AbortSignal): Promise<Comparison> {
    const body = { variants: asked.variants, from: from(asked), ...luck(asked) };
    return (await post("compare", body, signal)).json();
  }

  async download(kind: Kind, asked: Asked): Promise<Blob> {
    const { variants, text } = asked;
    const what = variants.length && kind !== "toml" ? { variants } : { text };
    return (
      await post("download", { what: kind, from: from(asked), ...luck(asked), ...what })
    ).blob();
  }

  async live(asked: Asked, heard: (told: Heard) => void, signal: AbortSignal): Promise<Answer> {
    const body = { text: asked.text, from: from(asked) };
    const answer = await post("live", body, signal);
    try {
      for await (const { name, data } of events(answer)) {
        if (name === "begin") heard({ what: "begin", about: JSON.parse(data) });
        else if (name === "rows") heard({ what: "rows", ...JSON.parse(data) });
        else if (name === "end") return JSON.parse(data);
        else if (name === "refused") {
          const { status, error, problems } = JSON.parse(data);
          throw new Refusal(status, error, problems ?? []);
        }
      }
    } catch (error) {
      throw error instanceof Refusal ? error : silent(error);
    }
    throw new Refusal(500, "The live run ended without a result.");
  }
}
