// A scenario in the fragment of an address: it goes to no server, and back and forward bring it again.

export interface Shared {
  text: string;
  /** Whether traces are those of the examples. */
  examples: boolean;
  /** The texts of the variants that are kept. */
  variants: string[];
}

async function through(
  data: BlobPart,
  stream: CompressionStream | DecompressionStream,
): Promise<ArrayBuffer> {
  return new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer();
}

export async function fragment(shared: Shared): Promise<string> {
  const { text: edited, examples, variants } = shared;
  const what = variants.length ? JSON.stringify([edited, ...variants]) : edited;
  const bytes = new Uint8Array(await through(what, new CompressionStream("deflate-raw")));
  const text = btoa(String.fromCharCode(...bytes));
  const kind = variants.length ? (examples ? "w" : "v") : examples ? "x" : "s";
  return `#${kind}=${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The scenario of a fragment; null where there is none that can be read. */
export async function shared(hash: string): Promise<Shared | null> {
  const found = /^#([sxvw])=([\w-]+)$/.exec(hash);
  if (!found?.[2]) return null;
  try {
    const text = atob(found[2].replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (sign) => sign.charCodeAt(0));
    const read = await through(bytes, new DecompressionStream("deflate-raw"));
    const whole = new TextDecoder().decode(read);
    const examples = found[1] === "x" || found[1] === "w";
    if (found[1] === "s" || found[1] === "x") return { text: whole, examples, variants: [] };
    const [edited, ...variants]: unknown[] = JSON.parse(whole);
    const texts = variants.filter((each) => typeof each === "string");
    return typeof edited === "string" ? { text: edited, examples, variants: texts } : null;
  } catch {
    return null;
  }
}
