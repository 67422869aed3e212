// When a gate holds a flow back: as python/tidegate/_run/view.py says it.
import { allMissing, none } from "./arrays";
import type { Columns } from "./recording";

/** The wait at a gate, ms; 0 where nothing waits there any more. */
export function waitsOf(part: Columns): Float64Array {
  const packets = part.queue_packets ?? none;
  const queue = allMissing(packets) ? (part.queue_cells ?? none) : packets;
  const wait = part.wait_ms ?? none;
  return queue.map((units, row) => (units > 0 ? (wait[row] ?? Number.NaN) : 0));
}

/**
 * 1 where data of a flow is under way, else 0: a gate can hold nothing else back. Of a sender that does not say
 * what is in flight: from the first byte received to the last.
 */
export function underWay(part: Columns): Float64Array {
  const flight = part.in_flight_segments ?? none;
  if (!allMissing(flight)) return flight.map((each) => (each > 0 ? 1 : 0));
  const came = part.delivered_bytes ?? none;
  const last = came[came.length - 1] ?? 0;
  return came.map((each, row) => (each > 0 && (came[row - 1] ?? 0) < last ? 1 : 0));
}
