// What limited a flow in words, as `tidegate run` says it.
import { fixed } from "../shared/number";

export type Shares = Record<string, number | null> | null | undefined;

/** The largest share first, as in "gate isp 71%, …"; "–": nothing is known. */
export function limitedBy(shares: Shares): string {
  const ranked = Object.entries(shares ?? {})
    .filter(([, share]) => (share ?? 0) >= 0.005)
    .sort(([, a], [, b]) => (b ?? 0) - (a ?? 0));
  const told = ranked.map(
    ([what, share]) => `${what.replace("gate.", "gate ")} ${fixed(100 * (share ?? 0), 0)}%`,
  );
  return told.join(", ") || "–";
}
