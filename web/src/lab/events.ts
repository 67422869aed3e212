// Server-sent events of an answer, as the HTML standard writes them (9.2.6): the browser's own reader of them asks
// with GET only and asks again when a connection ends, which a live run must not.

export interface Event {
  name: string;
  data: string;
}

export async function* events(answer: Response): AsyncGenerator<Event> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let left = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (left + value).split("\n\n");
      left = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } finally {
    // Whoever stops listening ends the connection, and with it the run.
    await reader.cancel().catch(() => undefined);
  }
}

/** One block of lines; null where it is a comment only. */
function parsed(block: string): Event | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (field === "event") name = value;
    if (field === "data") data.push(value);
  }
  return data.length ? { name, data: data.join("\n") } : null;
}
