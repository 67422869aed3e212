// What the page asks of its server. The address of the page has the token, so addresses here are relative.

export interface Problem {
  line: number | null;
  column: number | null;
  key: string | null;
  read: string | null;
  problem: string;
  help: string | null;
}

/** A refusal: why, and where it belongs. `status` 0: the server does not answer. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problems: Problem[] = [],
  ) {
    super(message);
  }
}

/** This tab: its newest run takes the place of the one before, and of no other tab's. */
const PAGE = Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) =>
  each.toString(36),
).join("");

async function answered(path: string, init?: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`api/${path}`, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError")
      throw new Refusal(409, "stopped");
    throw new Refusal(0, "The server does not answer.");
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({ error: answer.statusText }));
  throw new Refusal(answer.status, told.error, told.problems ?? []);
}

export async function get<Kind>(path: string): Promise<Kind> {
  return (await answered(path)).json();
}

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return answered(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ page: PAGE, ...body }),
    ...(signal ? { signal } : {}),
  });
}

export async function ask<Kind>(path: string, body: object, signal?: AbortSignal): Promise<Kind> {
  return (await post(path, body, signal)).json();
}

export async function file(body: object): Promise<Blob> {
  return (await post("download", body)).blob();
}
