// @ts-check
/**
 * The simulator in a page or in Node: `const tidegate = await Tidegate.load(bytes)`, then
 * `tidegate.run({ text, files }, { seed: 1 })`. A call computes until it is done, so a page makes it in a worker.
 *
 * @typedef {{ text: string, name?: string, sets?: string[], files?: Record<string, Uint8Array> }} Scenario
 *   `name` is what messages call it (one that ends in .json is JSON, any other TOML); `sets` are edits, `key=value`; `files` has
 *   the bytes of every trace by the name that the scenario has for it.
 * @typedef {Float64Array | BigUint64Array | Uint32Array | Uint8Array} Column
 *   2^64 − 1 stands for "none" in a column that may have none.
 * @typedef {{ line: number | null, column: number | null, key: string, read: string, problem: string, help: string | null }} Problem
 * @typedef {{ path: string[], back: string[] }} Way
 * @typedef {{ queue_limit: { unit: string, count: number } | null,
 *   token_bucket: { rate_bps: number, burst_bytes: number, peak_bps: number | null } | null,
 *   contract: { rate_bps: number, peak_bps: number | null } | null }} Law
 * @typedef {{ summary: any, warnings: string[], paths: Record<string, Way>, laws: Record<string, Law>,
 *   groups: string[], tables: Record<string, Record<string, Column>> }} Run
 *   `paths` are the gates that each flow passes, `laws` what a picture shows of a gate beside its columns,
 *   `groups` the flows whose copies are recorded together.
 */

const COLUMNS = { f64: Float64Array, u64: BigUint64Array, maybe_u64: BigUint64Array, u32: Uint32Array, u8: Uint8Array };

/** The memory from which on a module that stops has had too little: `build` gives it 1 GiB at most. */
const NEARLY_ALL = 700_000_000;
const NO_MEMORY = "the run needs more than 1 GB of memory; make it shorter, or use tidegate run";

/** A scenario or a question that is wrong, a run that stopped, or a bug; `kind` says which. */
export class TidegateError extends Error {
  /** @param {{ kind: string, message: string, problems?: Problem[] }} error */
  constructor({ kind, message, problems = [] }) {
    super(message);
    this.name = "TidegateError";
    /** "scenario", "run", "question", "memory" or "bug". */
    this.kind = kind;
    /** What is wrong with a scenario, each with its line and column, counted from 1. */
    this.problems = problems;
  }
}

export class Tidegate {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.module = module;
    this.exports = instantiate(module);
  }

  /**
   * @param {BufferSource} bytes those of tidegate.wasm
   * @returns {Promise<Tidegate>}
   */
  static async load(bytes) {
    return new Tidegate(await WebAssembly.compile(bytes));
  }

  /**
   * What a scenario says of itself: title, flows, gates, warnings, an explanation.
   * @param {Scenario} scenario
   */
  check(scenario) {
    return this.#ask({ ask: "check" }, scenario).json;
  }

  /**
   * A simulated run.
   * @param {Scenario} scenario
   * @param {{ seed?: number, replication?: number, perturbation?: number, record?: string }} [how] `record`: "summary", "events"
   *   or an interval; `perturbation`: which small change that nobody can know, 0 none
   * @returns {Run}
   */
  run(scenario, how = {}) {
    const { json, bytes } = this.#ask({ ask: "run", ...how }, scenario);
    const column = (/** @type {{ kind: keyof typeof COLUMNS, at: number, rows: number }} */ { kind, at, rows }) => {
      const type = COLUMNS[kind];
      const start = bytes.byteOffset + at;
      const own = /** @type {ArrayBuffer} */ (bytes.buffer).slice(start, start + rows * type.BYTES_PER_ELEMENT);
      return new type(own);
    };
    return { ...json, tables: mapped(json.tables, (table) => mapped(table, column)) };
  }

  /** The JSON Schema of the scenario language. */
  schema() {
    return this.#ask({ ask: "schema" }).json;
  }

  /**
   * The words behind the codes of each table's columns.
   * @returns {Record<string, Record<string, string[]>>}
   */
  words() {
    return this.#ask({ ask: "words" }).json;
  }

  /**
   * The answer to a question as it came: the JSON as text, the bytes behind it.
   * @param {object} question
   * @param {Scenario} [scenario]
   * @returns {{ text: string, bytes: Uint8Array }}
   */
  askForText(question, scenario) {
    const { text, name, sets, files = {} } = scenario ?? { text: "" };
    const lengths = Object.entries(files).map(([file, bytes]) => ({ name: file, bytes: bytes.length }));
    const asked = scenario ? { ...question, scenario: { text, name, sets, files: lengths } } : question;
    return split(this.#answer(join(JSON.stringify(asked), Object.values(files))));
  }

  /**
   * @param {object} question
   * @param {Scenario} [scenario]
   */
  #ask(question, scenario) {
    const { text, bytes } = this.askForText(question, scenario);
    const json = JSON.parse(text);
    if (json.error) throw new TidegateError(json.error);
    return { json, bytes };
  }

  /** @param {Uint8Array} question */
  #answer(question) {
    const { tidegate_room, tidegate_answer, memory } = this.exports;
    try {
      const room = tidegate_room(question.length);
      new Uint8Array(memory.buffer, room, question.length).set(question);
      return this.#taken(tidegate_answer(room, question.length));
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      const used = memory.buffer.byteLength;
      const said = new TextDecoder().decode(this.#taken(this.exports.tidegate_panic()));
      this.exports = instantiate(this.module);
      // Where no more memory is to be had there is no panic: the module stops.
      if (!said && used > NEARLY_ALL) throw new TidegateError({ kind: "memory", message: NO_MEMORY });
      throw new TidegateError({ kind: "bug", message: said || `the module stopped: ${error.message}` });
    }
  }

  /** @param {bigint} where */
  #taken(where) {
    const at = Number(where & 0xffffffffn);
    const length = Number(where >> 32n);
    const bytes = new Uint8Array(this.exports.memory.buffer, at, length).slice();
    this.exports.tidegate_free(at, length);
    return bytes;
  }
}

/**
 * @param {WebAssembly.Module} module
 * @returns {any}
 */
function instantiate(module) {
  return new WebAssembly.Instance(module, {}).exports;
}

/**
 * A message: the length of the JSON, the JSON, the files.
 * @param {string} json
 * @param {Uint8Array[]} files
 */
function join(json, files) {
  const text = new TextEncoder().encode(json);
  const message = new Uint8Array(files.reduce((sum, file) => sum + file.length, 4 + text.length));
  new DataView(message.buffer).setUint32(0, text.length, true);
  let at = 4;
  for (const part of [text, ...files]) {
    message.set(part, at);
    at += part.length;
  }
  return message;
}

/** @param {Uint8Array} message */
function split(message) {
  const length = new DataView(message.buffer).getUint32(0, true);
  return { text: new TextDecoder().decode(message.subarray(4, 4 + length)), bytes: message.subarray(4 + length) };
}

/**
 * @template T, U
 * @param {Record<string, T>} object
 * @param {(value: T) => U} change
 * @returns {Record<string, U>}
 */
function mapped(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
