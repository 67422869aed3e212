// Columns of numbers, as python/tidegate/_page/pack.py packs them.

export interface Packed {
  n: number;
  exponent: number;
  order: number;
  gaps: [number, number][];
  data: string;
}

/** A column as it came over the network, or as a worker made it. */
export type Column = Packed | Float64Array;

export function unpacked(column: Column): Float64Array {
  if (column instanceof Float64Array) return column;
  const bytes = Uint8Array.from(atob(column.data), (sign) => sign.charCodeAt(0));
  const found = new Float64Array(column.n);
  const power = 10 ** Math.abs(column.exponent);
  const divides = column.exponent < 0;
  let place = 0;
  let step = 0;
  let value = 0;
  for (let row = 0; row < column.n; row++) {
    let rest = 0;
    let weight = 1;
    let byte = 128;
    while (byte > 127) {
      byte = bytes[place++] ?? 0;
      rest += (byte & 127) * weight;
      weight *= 128;
    }
    const signed = rest % 2 === 0 ? rest / 2 : -(rest + 1) / 2;
    step = column.order === 2 ? step + signed : signed;
    value += step;
    found[row] = divides ? value / power : value * power;
  }
  for (const [begin, length] of column.gaps) found.fill(Number.NaN, begin, begin + length);
  return found;
}
