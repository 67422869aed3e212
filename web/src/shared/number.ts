// Numbers as people read them: the digits and units of python/tidegate/_base/text.py. A test compares the two.

/** Digits behind the last one kept that tell a tie from what is near it. */
const MORE = 60;

/** A number with so many significant digits; "–" for none. A count stands as it is: {@link whole}. */
export function number(value: unknown, digits = 3): string {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Number(exponential(value, digits - 1).split("e")[1]);
  if (size >= 7 || size < -4) {
    const [mantissa, power = ""] = exponential(value, digits - 1).split("e");
    return `${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  return fixed(value, Math.max(0, digits - 1 - size));
}

/** A count. */
export function whole(value: unknown): string {
  return typeof value === "number" ? String(value) : "–";
}

/** A share as a number of per cent, without the sign. */
export function percent(share: unknown, digits = 3): string {
  return number(typeof share === "number" ? 100 * share : null, digits);
}

/** A divisor and a unit for rates of up to so many bit/s. */
export function rateScale(top: number): [number, string] {
  const scales: [number, string][] = [
    [1e9, "Gbit/s"],
    [1e6, "Mbit/s"],
    [1e3, "kbit/s"],
  ];
  return scales.find(([factor]) => top >= factor) ?? [1, "bit/s"];
}

/** So many digits behind the point; what lies in the middle goes to the even digit, as Python rounds. */
export function fixed(value: number, digits: number): string {
  const long = value.toFixed(digits + MORE);
  return even(long.slice(0, -MORE).replace(/\.$/, ""), long.slice(-MORE), value.toFixed(digits));
}

function exponential(value: number, digits: number): string {
  const [long = "", power] = value.toExponential(digits + MORE).split("e");
  const kept = long.slice(0, -MORE).replace(/\.$/, "");
  return even(`${kept}e${power}`, long.slice(-MORE), value.toExponential(digits), kept);
}

/** What is cut off, where that is exactly a half and the digit before it even; else what is rounded. */
function even(cut: string, rest: string, rounded: string, kept = cut): string {
  return /^50*$/.test(rest) && /[02468]$/.test(kept) ? cut : rounded;
}
