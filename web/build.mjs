// Makes the scripts and styles of the pages; `make page` calls it. `--check` writes nothing and fails
// where a committed file is not what the sources give.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const place = new URL("../python/tidegate/_page/built/", here);

const result = await build({
  absWorkingDir: fileURLToPath(here),
  entryPoints: {
    report: "src/report/main.ts",
    lab: "src/lab/main.ts",
    worker: "src/inside/worker.ts",
  },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  outdir: "out",
  write: false,
});

const files = new Map(result.outputFiles.map((file) => [file.path.split("/").pop(), file.text]));
files.set("lab.html", await readFile(new URL("src/lab/lab.html", here), "utf8"));
const licence = await readFile(new URL("node_modules/uplot/LICENSE", here), "utf8");
files.set(
  "LICENSES.txt",
  `The built scripts contain uPlot 1.6.32 (its styles too), under this licence:\n\n${licence}`,
);

let stale = 0;
for (const [name, text] of files) {
  if (name.startsWith("report.") && /<\/(script|style)/i.test(text))
    throw new Error(`${name} would end the element that holds it`);
  const path = new URL(name, place);
  if (process.argv.includes("--check")) {
    const committed = await readFile(path, "utf8").catch(() => "");
    if (committed !== text) {
      console.error(`${fileURLToPath(path)} is not what web/ gives: run make page`);
      stale = 1;
    }
  } else {
    await writeFile(path, text);
    console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
  }
}
process.exit(stale);
