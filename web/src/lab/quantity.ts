// Numbers with units, and the slider that moves one.

export interface Quantity {
  value: number;
  unit: string;
  quoted: boolean;
}

export function quantity(raw: string): Quantity | null {
  const quoted = raw.startsWith('"');
  const found = /^([\d_]*\.?\d+(?:[eE][+-]?\d+)?)\s*([A-Za-zµμ%/]*)$/.exec(
    quoted ? raw.slice(1, -1) : raw,
  );
  if (!found?.[1]) return null;
  const value = Number(found[1].replaceAll("_", ""));
  return Number.isFinite(value) ? { value, unit: found[2] ?? "", quoted } : null;
}

export function written(value: number, like: Quantity, whole: boolean): string {
  const kept = whole ? Math.round(value) : Number(value.toPrecision(3));
  const space = like.unit && like.unit !== "%" ? " " : "";
  const text = `${kept}${like.quoted ? space + like.unit : ""}`;
  return like.quoted ? `"${text}"` : text;
}

/** Steps of a slider from a tenth to ten times a value. */
export const STEPS = 200;

/** What stands at a step. */
export function stepped(step: number, centre: number, least: number, most: number): number {
  const value = centre > 0 ? centre * 10 ** ((2 * step) / STEPS - 1) : step / STEPS / 20;
  return Math.min(most, Math.max(least, value));
}

export function stepOf(value: number, centre: number): number {
  if (!(centre > 0)) return Math.round(value * 20 * STEPS);
  return Math.round(((Math.log10(Math.max(value, centre / 10) / centre) + 1) * STEPS) / 2);
}
