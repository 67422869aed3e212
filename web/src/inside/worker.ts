// The worker of a page without a server: it has the WebAssembly module and answers one question at a time.
import { Tidegate } from "../../../crates/tidegate-wasm/tidegate.mjs";
import type { View } from "../shared/view";
import { Answers, type Given, type Job, RefusedError } from "./answers";

export type Question =
  | { ask: "begin"; module: WebAssembly.Module; given: Given }
  | { ask: "schema" }
  | ({ ask: "run" } & Job)
  | {
      ask: "compare";
      variants: { name: string; text: string }[];
      files: Job["files"];
      perturb?: number;
    };

export type Reply =
  | { answer: unknown }
  | { refused: Pick<RefusedError, "status" | "message" | "problems"> };

let answers: Answers | null = null;

function answered(question: Question): unknown {
  if (question.ask === "begin") {
    answers = new Answers(new Tidegate(question.module), question.given);
    return null;
  }
  if (!answers) throw new RefusedError(500, "the worker has no module");
  if (question.ask === "schema") return answers.schema();
  if (question.ask === "run") return answers.run(question);
  return answers.compare(question.variants, question.files, question.perturb);
}

/** The memory of an answer's columns goes to the page; it is not copied. */
function columnsOf(answer: unknown): Transferable[] {
  const view = (answer as { view?: View | null } | null)?.view;
  const columns = view?.columns ?? [];
  return [
    ...new Set(columns.flatMap((each) => (each instanceof Float64Array ? [each.buffer] : []))),
  ];
}

addEventListener("message", ({ data }: MessageEvent<Question>) => {
  let reply: Reply;
  try {
    reply = { answer: answered(data) };
  } catch (error) {
    const { status, message, problems } =
      error instanceof RefusedError
        ? error
        : new RefusedError(500, `this is a bug in tidegate: ${error}`);
    reply = { refused: { status, message, problems } };
  }
  const moved = "answer" in reply ? columnsOf(reply.answer) : [];
  postMessage(reply, { transfer: moved as Transferable[] });
});
