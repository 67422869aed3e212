// The page itself as the place of answers: the WebAssembly module in a worker, files beside the page, no server.

import type { Given } from "../inside/answers";
import type { Question, Reply } from "../inside/worker";
import type { Example } from "./gallery";
import { picture } from "./picture";
import { type Asked, type Kind, luck, type Place, Refusal, type Start } from "./place";
import { page } from "./report";
import type { Answer, Comparison, Results } from "./results";
import type { Schema } from "./schema";

interface Written extends Start, Given {
  examples: Example[];
  /** The traces beside the page: of the examples, and of the scenarios that the page was made with. */
  traces: { examples: string[]; files: string[] };
}

/** A worker with its module; it is ended when what it does is not wanted any more. */
class Engine {
  private readonly worker = new Worker("worker.js");
  private settle: ((reply: Reply) => void) | null = null;

  constructor() {
    this.worker.addEventListener("message", ({ data }) => this.settle?.(data));
    this.worker.addEventListener("error", (event) => {
      const message = `the worker ended: ${event.message || "it could not be loaded"}`;
      this.settle?.({ refused: { status: 500, message, problems: [] } });
    });
  }

  ask(question: Question): Promise<Reply> {
    return new Promise((resolve) => {
      this.settle = resolve;
      this.worker.postMessage(question);
    });
  }

  end(): void {
    this.worker.terminate();
  }
}

export class Inside implements Place {
  readonly kinds: Kind[] = ["toml", "json", "png", "html"];
  /** Traces that the user chose, by name. */
  readonly chosen = new Map<string, Uint8Array>();
  private readonly fetched = new Map<string, Promise<Uint8Array>>();
  private readonly module = compiled();
  private readonly written: Promise<Written> = fetch("start.json").then((found) => found.json());
  /** The next one is made ready while one works. */
  private engine = this.begun();

  private async begun(): Promise<Engine> {
    const engine = new Engine();
    const { limits, metrics } = await this.written;
    const given = { limits, metrics };
    await answerOf(engine.ask({ ask: "begin", module: await this.module, given }));
    return engine;
  }

  start(): Promise<Start> {
    return this.written;
  }

  async schema(): Promise<Schema> {
    return (await answerOf((await this.engine).ask({ ask: "schema" }))) as Schema;
  }

  async gallery(): Promise<Example[]> {
    return (await this.written).examples;
  }

  async file(name: string): Promise<string> {
    return new TextDecoder().decode(await this.bytes(`scenarios/${name}`));
  }

  async run(asked: Asked, signal: AbortSignal): Promise<Answer> {
    const files = await this.files([asked.text], asked.examples);
    return (await this.asked(
      { ask: "run", text: asked.text, files, ...luck(asked) },
      signal,
    )) as Answer;
  }

  async compare(asked: Asked, signal: AbortSignal): Promise<Comparison> {
    const { variants, examples } = asked;
    const texts = variants.map((each) => each.text);
    const files = await this.files(texts, examples);
    return (await this.asked(
      { ask: "compare", variants, files, ...luck(asked) },
      signal,
    )) as Comparison;
  }

  async live(): Promise<Answer> {
    throw new Refusal(
      422,
      "A live run needs the kernel of a machine: start tidegate lab on one with Linux, and the scenario runs there.",
    );
  }

  async download(kind: Kind, asked: Asked, shown: Results): Promise<Blob> {
    if (kind === "toml") return new Blob([asked.text], { type: "application/toml" });
    if (kind === "json")
      return new Blob([`${JSON.stringify(shown.numbers(), null, 2)}\n`], {
        type: "application/json",
      });
    if (kind === "png") return picture(shown.stage, shown.title);
    return page(shown, asked, (await this.written).version);
  }

  /** An answer, or a refusal where it is not wanted any more or takes too long. */
  private async asked(question: Question, signal: AbortSignal): Promise<unknown> {
    const engine = await this.engine;
    const { wall_s: most } = (await this.written).limits;
    return new Promise((resolve, reject) => {
      const give = (refusal: Refusal) => {
        engine.end();
        this.engine = this.begun();
        reject(refusal);
      };
      const stop = () => give(new Refusal(409, "stopped"));
      const late = setTimeout(() => {
        const long = `the run took longer than ${most} s and was stopped`;
        give(new Refusal(413, `${long}; make it shorter, or use tidegate run`));
      }, 1000 * most);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      const done = () => {
        clearTimeout(late);
        signal.removeEventListener("abort", stop);
      };
      answerOf(engine.ask(question)).then(resolve, reject).finally(done);
    });
  }

  /** The files that texts name: those that the user chose, else those beside the page. */
  private async files(texts: string[], examples: boolean): Promise<Record<string, Uint8Array>> {
    const { traces } = await this.written;
    const found: Record<string, Uint8Array> = {};
    const named = (name: string) => texts.some((text) => text.includes(name));
    for (const name of examples ? traces.examples : traces.files) {
      if (named(name))
        found[name] = await this.bytes(`${examples ? "examples" : "traces"}/${name}`);
    }
    for (const [name, bytes] of this.chosen) {
      if (named(name)) found[name] = bytes;
    }
    return found;
  }

  private bytes(address: string): Promise<Uint8Array> {
    const known = this.fetched.get(address);
    if (known) return known;
    const path = address.split("/").map(encodeURIComponent).join("/");
    const found = fetch(path).then(async (answer) => {
      if (!answer.ok) throw new Refusal(answer.status, `${address}: ${answer.statusText}`);
      return new Uint8Array(await answer.arrayBuffer());
    });
    this.fetched.set(address, found);
    return found;
  }
}

async function answerOf(reply: Promise<Reply>): Promise<unknown> {
  const told = await reply;
  if ("answer" in told) return told.answer;
  const { status, message, problems } = told.refused;
  throw new Refusal(status, message, problems);
}

/** The module, which is compressed beside the page; some servers unpack what they send. */
async function compiled(): Promise<WebAssembly.Module> {
  const answer = await fetch("tidegate.wasm.gz");
  if (!answer.ok) throw new Refusal(answer.status, "tidegate.wasm.gz is not beside the page.");
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!packed) return WebAssembly.compile(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}
