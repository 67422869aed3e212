// Columns of numbers as short text: what python/tidegate/_page/pack.py does, for reports that a page makes.
import type { Packed } from "../shared/columns";

const DIGITS = 6;

export function packed(values: Float64Array, digits = DIGITS): Packed {
  const gaps: [number, number][] = [];
  const held = values.slice();
  let before = 0;
  values.forEach((value, place) => {
    if (Number.isFinite(value)) {
      before = value;
      return;
    }
    held[place] = before;
    const last = gaps[gaps.length - 1];
    if (last && last[0] + last[1] === place) last[1]++;
    else gaps.push([place, 1]);
  });
  const exponent = exponentOf(held, digits);
  const power = 10 ** Math.abs(exponent);
  const whole = held.map((value) => Math.round(exponent <= 0 ? value * power : value / power));
  const once = changes(whole);
  const [first, second] = [bytes(once), bytes(changes(once))];
  const order = second.length < first.length ? 2 : 1;
  return {
    n: values.length,
    exponent,
    order,
    gaps,
    data: base64(order === 2 ? second : first),
  };
}

function exponentOf(held: Float64Array, digits: number): number {
  let largest = 0;
  let whole = true;
  for (const value of held) {
    largest = Math.max(largest, Math.abs(value));
    whole &&= Number.isInteger(value);
  }
  if (largest === 0 || (whole && largest < 2 ** 53)) return 0;
  return Math.floor(Math.log10(largest)) + 1 - digits;
}

function changes(values: Float64Array): Float64Array {
  return values.map((value, place) => value - (place > 0 ? (values[place - 1] ?? 0) : 0));
}

/** Whole numbers with seven bits in each byte, the lowest first; the sign is the lowest bit. */
function bytes(numbers: Float64Array): number[] {
  const found: number[] = [];
  for (const value of numbers) {
    let rest = value < 0 ? -2 * value - 1 : 2 * value;
    while (rest > 127) {
      found.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    found.push(rest);
  }
  return found;
}

function base64(data: number[]): string {
  let text = "";
  for (let at = 0; at < data.length; at += 8192) {
    text += String.fromCharCode(...data.slice(at, at + 8192));
  }
  return btoa(text);
}
