// Arithmetic on columns, as numpy does it where python/tidegate/_run/history.py asks it.
import { firstFrom } from "../shared/thin";

export const none = new Float64Array();

export function allMissing(values: Float64Array): boolean {
  return values.every(Number.isNaN);
}

export function known(values: Float64Array): Float64Array {
  return values.filter((value) => !Number.isNaN(value));
}

export function most(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let found = least;
  for (const value of values) if (value > found) found = value;
  return found;
}

/** The place behind the last value that is not above this one. */
export function firstAbove(values: ArrayLike<number>, value: number): number {
  let low = firstFrom(values, value);
  while (low < values.length && values[low] === value) low++;
  return low;
}

export function differences(values: Float64Array): Float64Array {
  return Float64Array.from({ length: Math.max(0, values.length - 1) }, (_, place) => {
    return (values[place + 1] ?? 0) - (values[place] ?? 0);
  });
}

export function quantile(values: Float64Array, share: number): number {
  const sorted = values.slice().sort();
  const place = share * (sorted.length - 1);
  const [a, b] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return a + (b - a) * (place - Math.floor(place));
}

/** Equal steps from one number to another, both among them. */
export function steps(from: number, to: number, count: number): Float64Array {
  const step = (to - from) / (count - 1);
  return Float64Array.from({ length: count }, (_, place) =>
    place === count - 1 ? to : from + place * step,
  );
}

/** Halves go to the even number. */
export function rounded(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

/** Edges of equal bins over a run, none finer than two samples. */
export function edgesFor(duration: number, time: Float64Array, bins = 240): Float64Array {
  let step = duration / bins;
  if (time.length > 1) step = Math.max(step, 2 * quantile(differences(time), 0.5));
  return steps(0, duration, Math.max(1, rounded(duration / step)) + 1);
}

/** bit/s in each bin, of a running count of bytes. */
export function binnedRate(
  time: Float64Array,
  bytes: Float64Array,
  edges: Float64Array,
): Float64Array {
  const found = new Float64Array(edges.length - 1);
  if (!time.length) return found;
  const last = time[time.length - 1] ?? 0;
  const at = Float64Array.from(edges, (edge) => between(time, bytes, edge));
  for (let bin = 0; bin < found.length; bin++) {
    const seen = Math.min(edges[bin + 1] ?? 0, last) - Math.min(edges[bin] ?? 0, last);
    found[bin] = seen > 0 ? (((at[bin + 1] ?? 0) - (at[bin] ?? 0)) * 8) / seen : 0;
  }
  return found;
}

/** A count at an instant, between samples on a straight line; it begins with 0 at 0. */
function between(time: Float64Array, bytes: Float64Array, at: number): number {
  const next = firstAbove(time, at);
  if (next >= time.length) return bytes[time.length - 1] ?? 0;
  const [t, b] = next > 0 ? [time[next - 1] ?? 0, bytes[next - 1] ?? 0] : [0, 0];
  const span = (time[next] ?? 0) - t;
  return span > 0 ? b + (((bytes[next] ?? 0) - b) / span) * (at - t) : b;
}

/** The mean of the samples in each bin; no number where there is none. */
export function binnedMean(
  time: Float64Array,
  values: Float64Array,
  edges: Float64Array,
): Float64Array {
  const total = new Float64Array(edges.length - 1);
  const count = new Float64Array(edges.length - 1);
  for (let row = 0; row < time.length; row++) {
    const value = values[row] ?? Number.NaN;
    const bin = Math.min(Math.max(firstAbove(edges, time[row] ?? 0) - 1, 0), total.length - 1);
    if (Number.isNaN(value)) continue;
    total[bin] = (total[bin] ?? 0) + value;
    count[bin] = (count[bin] ?? 0) + 1;
  }
  return total.map((sum, bin) => sum / (count[bin] ?? 0));
}

/** The sum of columns; what is missing counts as nothing. */
export function together(columns: Float64Array[], length: number): Float64Array {
  const sum = new Float64Array(length);
  for (const column of columns) {
    for (let row = 0; row < length; row++) sum[row] = (sum[row] ?? 0) + (column[row] || 0);
  }
  return sum;
}
