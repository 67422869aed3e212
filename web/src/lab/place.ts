// Where the page's questions are answered: by the server of `tidegate lab`, or in the page itself.
import type { Example } from "./gallery";
import type { Answer, Comparison, Results } from "./results";
import type { Schema } from "./schema";
import type { Variant } from "./variants";

export interface Problem {
  line: number | null;
  column: number | null;
  key: string | null;
  read: string | null;
  problem: string;
  help: string | null;
}

/** A refusal: why, and where it belongs. `status` 0: the server does not answer; 409: it was withdrawn. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problems: Problem[] = [],
  ) {
    super(message);
  }
}

/** The bounds of python/tidegate/_lab/limits.py that are a page's too. */
export interface Limits {
  duration_s: number;
  flows: number;
  wall_s: number;
  variants: number;
  samples: number;
}

export interface Start {
  version: string;
  limits: Limits;
  /** Scenarios that can be opened by name. */
  files: string[];
  /** The one to begin with. */
  file: string | null;
  text: string | null;
}

/** What is asked for: one scenario, or several to compare; and whether its traces are those of the examples. */
export interface Asked {
  text: string;
  variants: Variant[];
  examples: boolean;
  /** Whether runs with small changes are made beside it. */
  luck: boolean;
}

/** How many of them. */
const CHANGES = 16;
export const luck = ({ luck }: Asked) => (luck ? { perturb: CHANGES } : {});

export type Kind = "toml" | "json" | "png" | "svg" | "html";

export interface Place {
  /** What can be downloaded. */
  readonly kinds: Kind[];
  start(): Promise<Start>;
  schema(): Promise<Schema>;
  gallery(): Promise<Example[]>;
  file(name: string): Promise<string>;
  run(asked: Asked, signal: AbortSignal): Promise<Answer>;
  compare(asked: Asked, signal: AbortSignal): Promise<Comparison>;
  download(kind: Kind, asked: Asked, shown: Results): Promise<Blob>;
  /** A run with the kernel's TCP; `heard` is told what comes while it lasts. */
  live(asked: Asked, heard: (told: Heard) => void, signal: AbortSignal): Promise<Answer>;
}

/** What a live run tells while it lasts. */
export type Heard =
  | { what: "begin"; about: Record<string, unknown> }
  | { what: "rows"; share: number; tables: Record<string, Record<string, (number | null)[]>> };
