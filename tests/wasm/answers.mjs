// Bundled by test_answers.py: the page's own answers without a server, for the questions that standard input has.
// Writes one line of JSON for each: {"answer": …} or {"refused": …}; no number is null.
import { readFileSync } from "node:fs";
import { Tidegate } from "../../crates/tidegate-wasm/tidegate.mjs";
import { Answers } from "../../web/src/inside/answers";
import { packed } from "../../web/src/inside/pack";

const [module, folder, given] = process.argv.slice(2);
const answers = new Answers(await Tidegate.load(readFileSync(module)), JSON.parse(given));
for (const { ask, text, variants, files = [], seed, perturb, pack } of JSON.parse(readFileSync(0, "utf8"))) {
  const bytes = Object.fromEntries(files.map((name) => [name, new Uint8Array(readFileSync(`${folder}/${name}`))]));
  try {
    if (ask === "pack") {
      console.log(JSON.stringify({ answer: packed(Float64Array.from(pack, (each) => each ?? Number.NaN)) }));
      continue;
    }
    const answer = ask === "run" ? answers.run({ text, files: bytes, seed, perturb }) : answers.compare(variants, bytes, perturb);
    const columns = answer.view.columns.map((column) => Array.from(column));
    console.log(JSON.stringify({ answer: { ...answer, view: { ...answer.view, columns } } }));
  } catch (error) {
    console.log(JSON.stringify({ refused: { status: error.status, message: error.message, problems: error.problems } }));
  }
}
