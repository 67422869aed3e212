// Asks the WebAssembly module what standard input says, [{"name", "question", "scenario", "files"}, …], and writes each answer to
// DIR/NAME.json and DIR/NAME.bin. Usage: node ask.mjs TIDEGATE.MJS TIDEGATE.WASM DIR
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [loader, module, folder] = process.argv.slice(2);
const { Tidegate } = await import(pathToFileURL(loader).href);
const tidegate = await Tidegate.load(readFileSync(module));
const lengths = [];
for (const { name, question, scenario, files } of JSON.parse(readFileSync(0, "utf8"))) {
  const given = Object.fromEntries(Object.entries(files ?? {}).map(([file, path]) => [file, readFileSync(path)]));
  const { text, bytes } = tidegate.askForText(question, scenario && { ...scenario, files: given });
  writeFileSync(join(folder, `${name}.json`), text);
  writeFileSync(join(folder, `${name}.bin`), bytes);
  lengths.push(text.length + bytes.length);
}
console.log(JSON.stringify(lengths));
