// What the scenario language says of a key: its meaning, what it takes, what else its table may have.

export interface Schema {
  description?: string;
  type?: string;
  const?: unknown;
  /** Of a word: only this engine takes it. */
  engine?: string;
  default?: unknown;
  examples?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
}

/** The alternatives of a place, without nesting. */
function forms(schema: Schema): Schema[] {
  return schema.anyOf ? schema.anyOf.flatMap(forms) : [schema];
}

export function at(root: Schema, path: string[]): Schema | null {
  let here: Schema | undefined = root;
  for (const part of path) {
    const above: Schema = here;
    here = forms(above)
      .map((form) => {
        const named = form.properties?.[part];
        const any =
          typeof form.additionalProperties === "object" ? form.additionalProperties : undefined;
        return named ?? any;
      })
      .find((found) => found !== undefined);
    if (!here) return null;
  }
  return here;
}

export function described(root: Schema, path: string[]): string {
  return at(root, path)?.description ?? "";
}

/** The words that a key takes in the simulator, each with its meaning: not those of the kernel's own congestion controls. */
export function words(schema: Schema): { word: string; meaning: string }[] {
  return forms(schema).flatMap(({ const: word, description: meaning = "", engine }) =>
    typeof word === "string" && engine !== "live" ? [{ word, meaning }] : [],
  );
}

/** The keys of a table, with their meaning and a value to begin with. */
export function keys(
  root: Schema,
  path: string[],
): { key: string; meaning: string; raw: string }[] {
  const schema = at(root, path);
  if (!schema) return [];
  const found = new Map<string, Schema>();
  for (const form of forms(schema)) {
    for (const [key, value] of Object.entries(form.properties ?? {})) found.set(key, value);
  }
  return [...found].map(([key, value]) => ({
    key,
    meaning: value.description ?? "",
    raw: beginning(value),
  }));
}

/** A value of a key in the language of scenarios; empty where only the text can say it. */
function beginning(schema: Schema): string {
  for (const form of [schema, ...forms(schema)]) {
    const value = form.default ?? form.examples?.[0] ?? form.const;
    if (["string", "number", "boolean"].includes(typeof value)) return JSON.stringify(value);
    if (form.type === "integer" || form.type === "number") return String(form.minimum ?? 1);
    if (form.type === "boolean") return "false";
  }
  return "";
}

export function isYesOrNo(schema: Schema): boolean {
  return forms(schema).every((form) => form.type === "boolean");
}

/** The bounds of a number, if it is one. */
export function bounds(schema: Schema): { least: number; most: number; whole: boolean } {
  const numbers = forms(schema).filter((form) => form.type === "integer" || form.type === "number");
  return {
    least: Math.max(0, ...numbers.map((form) => form.minimum ?? 0)),
    most: Math.min(...numbers.map((form) => form.maximum ?? Number.POSITIVE_INFINITY)),
    whole: numbers.length > 0 && numbers.every((form) => form.type === "integer"),
  };
}
