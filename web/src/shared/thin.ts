// As many points as there is room for: a line of 100,000 points becomes the least and the largest of each
// pixel column, so that nothing that could be seen is lost and zooming stays smooth.

type Numbers = ArrayLike<number>;
export type Row = (number | null)[];

/** The first place whose x is not below a value. */
export function firstFrom(x: Numbers, value: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((x[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const orNull = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

/** Lines between two instants: all points where they are few, else two for each of `room` columns. */
export function thinned(
  x: Numbers,
  lines: Numbers[],
  from: number,
  to: number,
  room: number,
): [number[], ...Row[]] {
  const begin = Math.max(0, firstFrom(x, from) - 1);
  const end = Math.min(x.length, firstFrom(x, to) + 1);
  if (end - begin <= 2 * room) {
    const shown = Array.from({ length: end - begin }, (_, place) => begin + place);
    return [shown.map((at) => x[at] ?? 0), ...lines.map((y) => shown.map((at) => orNull(y[at])))];
  }
  const bounds = Array.from({ length: room + 1 }, (_, column) =>
    Math.round(begin + ((end - begin) * column) / room),
  );
  const places: number[] = [];
  for (let column = 0; column < room; column++) {
    const [a, b] = [bounds[column] ?? 0, bounds[column + 1] ?? 0];
    places.push(x[a] ?? 0, x[(a + b) >> 1] ?? 0);
  }
  return [places, ...lines.map((y) => extremes(y, bounds))];
}

function extremes(y: Numbers, bounds: number[]): Row {
  const found: Row = [];
  for (let column = 0; column + 1 < bounds.length; column++) {
    const end = bounds[column + 1] ?? 0;
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    let leastAt = 0;
    let mostAt = 0;
    for (let at = bounds[column] ?? 0; at < end; at++) {
      const value = y[at] as number;
      if (value < least) {
        least = value;
        leastAt = at;
      }
      if (value > most) {
        most = value;
        mostAt = at;
      }
    }
    if (most < least) found.push(null, null);
    else if (leastAt < mostAt) found.push(least, most);
    else found.push(most, least);
  }
  return found;
}

/** Edges of equal bins between two instants, none finer than two samples. */
export function edges(x: Numbers, from: number, to: number, most: number): number[] {
  const samples = firstFrom(x, to) - firstFrom(x, from);
  const count = Math.max(1, Math.min(most, Math.floor(samples / 2)));
  return Array.from({ length: count + 1 }, (_, bin) => from + ((to - from) * bin) / count);
}

/** Mbit/s in each bin, of a running count of bytes; the last one stands for its end too. */
export function rates(x: Numbers, bytes: Numbers, bins: number[]): Row {
  const last = x[x.length - 1] ?? 0;
  const at = bins.map((edge) => counted(x, bytes, edge));
  const found: Row = [];
  for (let bin = 0; bin + 1 < bins.length; bin++) {
    const begin = bins[bin] ?? 0;
    const seen = Math.min(bins[bin + 1] ?? 0, last) - begin;
    found.push(seen > 0 ? (((at[bin + 1] ?? 0) - (at[bin] ?? 0)) * 8e-6) / seen : null);
  }
  return [...found, found[found.length - 1] ?? null];
}

function counted(x: Numbers, bytes: Numbers, at: number): number {
  const next = firstFrom(x, at);
  const value = (place: number) => bytes[place] || 0;
  if (next === 0)
    return x.length && (x[0] ?? 0) > 0 ? (value(0) * Math.max(0, at)) / (x[0] ?? 1) : 0;
  if (next >= x.length) return value(x.length - 1);
  const [a, b] = [x[next - 1] ?? 0, x[next] ?? 0];
  return value(next - 1) + ((value(next) - value(next - 1)) * (at - a)) / (b - a);
}

/** The mean of the samples in each bin; the last one stands for its end too. */
export function means(x: Numbers, y: Numbers, bins: number[]): Row {
  const found: Row = [];
  for (let bin = 0; bin + 1 < bins.length; bin++) {
    let sum = 0;
    let count = 0;
    const end = firstFrom(x, bins[bin + 1] ?? 0);
    for (let at = firstFrom(x, bins[bin] ?? 0); at < end; at++) {
      const value = y[at] as number;
      if (!Number.isNaN(value)) {
        sum += value;
        count++;
      }
    }
    found.push(count ? sum / count : null);
  }
  return [...found, found[found.length - 1] ?? null];
}
