// A scenario in the fragment of an address: it goes to no server, and back and forward bring it again.

export interface Shared {
  text: string;
  /** Whether traces are those of the examples. */
  examples: boolean;
}

async function through(
  data: BlobPart,
  stream: CompressionStream | DecompressionStream,
): Promise<ArrayBuffer> {
  return new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer();
}

export async function fragment(shared: Shared): Promise<string> {
  const bytes = new Uint8Array(await through(shared.text, new CompressionStream("deflate-raw")));
  const text = btoa(String.fromCharCode(...bytes));
  return `#${shared.examples ? "x" : "s"}=${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The scenario of a fragment; null where there is none that can be read. */
export async function shared(hash: string): Promise<Shared | null> {
  const found = /^#([sx])=([\w-]+)$/.exec(hash);
  if (!found?.[2]) return null;
  try {
    const text = atob(found[2].replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (sign) => sign.charCodeAt(0));
    const read = await through(bytes, new DecompressionStream("deflate-raw"));
    return { text: new TextDecoder().decode(read), examples: found[1] === "x" };
  } catch {
    return null;
  }
}
