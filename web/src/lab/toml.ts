// Where the values of a scenario stand in its text, so that a form can change one and leave the rest as it is.

export interface Entry {
  /** The key with its tables: ["gate", "link", "rate"]. */
  path: string[];
  /** The value as written, and where it stands in the text. */
  raw: string;
  begin: number;
  end: number;
  line: number;
}

/** A table's head; a row of a list has a comma. */
const HEAD = /^\s*\[{1,2}[\w."' -]+\]{1,2}\s*(#.*)?$/;
const BARE = /[A-Za-z0-9_-]/;

class Scanner {
  at = 0;
  line = 1;
  readonly entries: Entry[] = [];
  private table: string[] | null = [];

  constructor(readonly text: string) {}

  scan(): Entry[] {
    while (this.at < this.text.length) {
      this.blank();
      const sign = this.text[this.at];
      if (sign === undefined) break;
      if (sign === "[") this.head();
      else if (!this.pair(this.table, "\n")) this.rest();
    }
    return this.entries;
  }

  /** Skips blanks, line ends and comments. */
  private blank(): void {
    for (;;) {
      const sign = this.text[this.at];
      if (sign === "#") this.rest();
      else if (sign === "\n") this.line++;
      else if (sign !== " " && sign !== "\t" && sign !== "\r") return;
      if (sign !== "#") this.at++;
    }
  }

  private rest(): void {
    const end = this.text.indexOf("\n", this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  private space(): void {
    while (this.text[this.at] === " " || this.text[this.at] === "\t") this.at++;
  }

  /** A table's head; what stands in an array of tables is left to the text. */
  private head(): void {
    const several = this.text[this.at + 1] === "[";
    this.at += several ? 2 : 1;
    const key = this.key();
    this.table = several ? null : key;
    this.rest();
  }

  /** A dotted key. */
  private key(): string[] | null {
    const parts: string[] = [];
    for (;;) {
      this.space();
      const sign = this.text[this.at] ?? "";
      let part = "";
      if (sign === '"' || sign === "'") {
        const end = this.text.indexOf(sign, this.at + 1);
        if (end < 0) return null;
        part = this.text.slice(this.at + 1, end);
        this.at = end + 1;
      } else {
        while (BARE.test(this.text[this.at] ?? "")) part += this.text[this.at++];
      }
      if (!part) return null;
      parts.push(part);
      this.space();
      if (this.text[this.at] !== ".") return parts;
      this.at++;
    }
  }

  /** A key with its value; false where there is none. */
  private pair(table: string[] | null, until: string): boolean {
    const key = this.key();
    if (!key || this.text[this.at] !== "=") return false;
    this.at++;
    this.space();
    const begin = this.at;
    const line = this.line;
    const path = table && [...table, ...key];
    if (this.text[begin] === "{") return this.inline(path);
    if (!this.value(until)) return false;
    const raw = this.text.slice(begin, this.at).trimEnd();
    if (path && raw && !raw.includes("\n")) {
      this.entries.push({ path, raw, begin, end: begin + raw.length, line });
    }
    return true;
  }

  private inline(path: string[] | null): boolean {
    this.at++;
    for (;;) {
      this.blank();
      if (this.text[this.at] === "}") {
        this.at++;
        return true;
      }
      if (!this.pair(path, ",}")) return false;
      this.blank();
      if (this.text[this.at] === ",") this.at++;
      else if (this.text[this.at] !== "}") return false;
    }
  }

  /** Goes behind a value: text, a list, or a word that ends at one of these signs. */
  private value(until: string): boolean {
    const sign = this.text[this.at] ?? "";
    if (sign === '"' || sign === "'") return this.string(sign);
    if (sign === "[") return this.list();
    while (this.at < this.text.length && !`#\n${until}`.includes(this.text[this.at] ?? ""))
      this.at++;
    return true;
  }

  private string(quote: string): boolean {
    const long = this.text.startsWith(quote.repeat(3), this.at) ? 3 : 1;
    this.at += long;
    while (this.at < this.text.length) {
      if (this.text[this.at] === "\\" && quote === '"') this.at++;
      else if (this.text.startsWith(quote.repeat(long), this.at)) {
        this.at += long;
        return true;
      } else if (this.text[this.at] === "\n") {
        if (long === 1) return false;
        this.line++;
      }
      this.at++;
    }
    return false;
  }

  private list(): boolean {
    this.at++;
    for (;;) {
      this.blank();
      const sign = this.text[this.at];
      if (sign === undefined) return false;
      if (sign === "]") {
        this.at++;
        return true;
      }
      if (sign === ",") this.at++;
      else if (sign === "{" ? !this.inline(null) : !this.value(",]")) return false;
    }
  }
}

export function entries(text: string): Entry[] {
  return new Scanner(text).scan();
}

/** The text with another value in the place of one. */
export function changed(text: string, entry: Entry, raw: string): string {
  return text.slice(0, entry.begin) + raw + text.slice(entry.end);
}

/** The text with a key more in a table, behind the last key that stands there. */
export function added(text: string, path: string[], raw: string): string {
  const [key = "", table] = [path[path.length - 1], path.slice(0, -1)];
  const lines = text.split("\n");
  const own = entries(text).filter((each) =>
    table.every((part, place) => each.path[place] === part),
  );
  const head = (line: string) => entries(`${line.trim()}\nx = 1`)[0]?.path.slice(0, -1).join("\0");
  let at = lines.findIndex((line) => HEAD.test(line) && head(line) === table.join("\0"));
  if (at < 0 && table.length) {
    const last = own[own.length - 1];
    if (last === undefined) return `${text.trimEnd()}\n\n[${table.join(".")}]\n${key} = ${raw}\n`;
    const base = lines.slice(0, last.line).findLastIndex((line) => HEAD.test(line));
    const above = base < 0 ? [] : (head(lines[base] ?? "")?.split("\0") ?? []);
    const dotted = path.slice(above.filter(Boolean).length).join(".");
    lines.splice(last.line, 0, `${dotted} = ${raw}`);
    return lines.join("\n");
  }
  if (!table.length)
    at = Math.max(-1, ...own.filter((each) => each.path.length === 1).map((each) => each.line - 1));
  else {
    let end = at + 1;
    while (end < lines.length && !HEAD.test(lines[end] ?? "")) end++;
    while (end > at + 1 && /^\s*(#.*)?$/.test(lines[end - 1] ?? "")) end--;
    at = end - 1;
  }
  lines.splice(at + 1, 0, `${key} = ${raw}`);
  return lines.join("\n");
}

/** A written value as it is read: text without quotes. */
export function plain(raw: string): string {
  const found = /^(["'])(.*)\1$/s.exec(raw);
  return found?.[2] ?? raw;
}

export function quoted(value: string): string {
  return JSON.stringify(value);
}
