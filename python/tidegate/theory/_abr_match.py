"""The renewal model for a plan: one flow over a link of two random rates, fed back or not."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tidegate._ask.plan import RATE_WORDS, round_trip_ps
from tidegate._base.arguments import PICOS
from tidegate.theory import _tcp_match as tcp_match
from tidegate.theory._match_rules import DoesNotApplyError, need, need_endless, only_flow

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Flow, Gate, Plan, Tcp
    from tidegate.theory._abr_results import Abr

#: Fewer stays in each state than this, and one run says little about the mean.
_STAYS = 100
#: Differences of lag or timer from the model's that are told.
_NOTABLE = Fraction(1, 20)


def read(plan: Plan) -> dict[str, Any]:
    """Return the parts of a fit.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    flow = only_flow(plan)
    source, link = _gates(plan, flow)
    tcp = flow["tcp"]
    unmet: list[str] = []
    packet = tcp_match.wire_bytes(link, tcp)
    rtt = round_trip_ps(plan, flow)
    need(rtt > 0, "the round trip has no delay, which the model needs")
    high, low, holding = _states(link, rtt)
    _source(flow, tcp, rtt, unmet)
    parameters: dict[str, Any] = {
        # Times of the link, in those of a packet at its high rate.
        "psi": Fraction(holding[0], rtt),
        "psi_low": Fraction(holding[1], rtt),
        "delta_packets": Fraction(rtt * high, 8 * packet * PICOS),
        "r0": 1,
        "r1": Fraction(high, low),
        "buffer": _buffer(link, packet),
        **_scheme(source, link, rtt, high, packet, unmet),
        # Packets are whole on this wire: what cells add is not the engine's.
        "overhead": 1,
    }
    need(
        parameters["delta_packets"] >= parameters["r1"],
        f"a round trip of {rtt / 1e9:g} ms is shorter than the transmission of a packet at the low rate",
    )
    if tcp["window"] is not None:
        parameters["wmax"] = max(2, tcp["window"] // tcp["mss"])
    else:
        unmet.append("the window is unlimited; in the model it is 2 (Δ + buffer)")
    from tidegate.theory._abr import abr

    found = abr(**parameters, explain=True)
    unmet += [f"{each.text}: {each.why}" for each in found.violated]
    if found.bounds[0] < found.bounds[1]:
        unmet.append(
            "goodput counts all that reaches the receiver around a loss (optimistic); if all of it were sent "
            f"again, it would be {found.bounds[0] / found.bounds[1]:.3g} of that"
        )
    start = flow["latest_start_ps"]
    if start > plan["warmup_ps"]:
        unmet.append(
            f"flow {flow['name']} starts at {start / PICOS:g} s, and the summary at "
            f"{plan['warmup_ps'] / PICOS:g} s: it counts a time without packets"
        )
    measured = plan["duration_ps"] - plan["warmup_ps"]
    stays = measured / (holding[0] + holding[1])
    if stays < _STAYS:
        unmet.append(
            f"numbers are those of a run without end: the measured {measured / PICOS:g} s hold about "
            f"{stays:.0f} stays in each state"
        )
    return {
        "parameters": parameters,
        "unmet": tuple(unmet),
        "result": found,
        "flows": [_flow_row(flow, tcp, found, Fraction(high, 8 * packet), rtt, measured)],
        "gates": [_gate_row(link, found, high)],
    }


def _gates(plan: Plan, flow: Flow) -> tuple[Gate | None, Gate]:
    """Return the gate that paces the source, if there is one, and the link."""
    path, back = tcp_match.ways(plan, flow)
    for gate in (*path, *back):
        tcp_match.plain(gate)
        need(
            gate["framing"]["kind"] != "aal5",
            f"gate {gate['name']} passes cells; the model counts whole packets",
        )
    for gate in back:
        tcp_match.unlimited(gate)
    rated = [gate for gate in path if gate["rate"]["kind"] != "unlimited"]
    kinds = [gate["rate"]["kind"] for gate in rated]
    words = [RATE_WORDS[kind] for kind in kinds]
    need(
        bool(rated) and kinds[-1] == "markov",
        "the model has a link whose rate is a Markov chain, and before it at most one gate, which follows "
        f"the link or has a constant rate; the path of flow {flow['name']} has "
        f"{', '.join(words) if kinds else 'no gate with a rate'}",
    )
    need(
        kinds[:-1] in ([], ["follow"], ["constant"]),
        f"before the link the path of flow {flow['name']} has {', '.join(words[:-1])}; the model "
        "has no gate there, or one that follows the link or has a constant rate",
    )
    link = rated[-1]
    if len(rated) == 1:
        return None, link
    source = rated[0]
    need(
        source["queue_limit"] is None,
        f"the queue of gate {source['name']} is limited; in the model it holds a whole window",
    )
    if source["rate"]["kind"] == "follow":
        need(
            plan["gates"][source["rate"]["gate"]] is link,
            f"gate {source['name']} follows another gate than the link {link['name']}",
        )
    return source, link


def _states(link: Gate, rtt: int) -> tuple[int, int, list[int]]:
    """Return the high rate, the low rate, and the mean times in them."""
    rate = link["rate"]
    name = link["name"]
    need(
        len(rate["rates_bps"]) == 2 and rate["ring"],
        f"the link {name} has {len(rate['rates_bps'])} states; the model has two",
    )
    need(min(rate["rates_bps"]) > 0, f"the link {name} has a rate of 0; in the model both rates are above 0")
    need(rate["rates_bps"][0] != rate["rates_bps"][1], f"both states of the link {name} have the same rate")
    order = sorted((0, 1), key=lambda n: -rate["rates_bps"][n])
    holding = [rate["holding_ps"][n] for n in order]
    for n, mean in zip(order, holding, strict=True):
        need(
            mean > rtt,
            f"link {name} stays in state {n} for {mean / 1e9:g} ms, {mean / rtt:.3g} round trips: psi must "
            "be above 1, as the model lets a rate change once in a round trip",
        )
    return rate["rates_bps"][order[0]], rate["rates_bps"][order[1]], holding


def _buffer(link: Gate, packet: int) -> int:
    limit = link["queue_limit"]
    if limit is None:
        raise DoesNotApplyError(f"the queue of gate {link['name']} is unlimited, so no packet is ever lost")
    room = limit["count"] if limit["unit"] == "packets" else limit["count"] // packet
    return int(room) + (0 if link["queue_counts_all"] else 1)


def _scheme(
    source: Gate | None,
    link: Gate,
    rtt: int,
    high: int,
    packet: int,
    unmet: list[str],
) -> dict[str, Any]:
    """Return the model's scheme, with the rate of a source that has its own."""
    if source is None:
        return {"scheme": "tcp"}
    rate = source["rate"]
    if rate["kind"] == "constant":
        slowest = min(link["rate"]["rates_bps"])
        need(
            rate["bps"] <= high,
            f"gate {source['name']} is always faster than the link {link['name']}, so it paces no packets",
        )
        need(Fraction(rtt * rate["bps"], 8 * packet * PICOS) >= 1, f"gate {source['name']} sends too slowly")
        if rate["bps"] <= slowest:
            unmet.append("the source is never faster than the link, so no packet is ever lost")
        return {"scheme": "constant", "rate": Fraction(rate["bps"], high)}
    need(
        rate["m"] == 1 and rate["n"] == 1,
        f"gate {source['name']} uses EFFCAP with M = {rate['m']} and N = {rate['n']}; the model uses the "
        "last capacity (INSTCAP)",
    )
    need(rate["share"] == 1, f"gate {source['name']} uses a share of {rate['share']:g}; the model uses all")
    low = min(link["rate"]["rates_bps"])
    need(
        rate["min_bps"] <= low and (rate["peak_bps"] is None or rate["peak_bps"] >= high),
        f"the bounds (min, peak) of gate {source['name']} exclude rates of the link",
    )
    if abs(rate["lag_ps"] - rtt) > _NOTABLE * rtt:
        unmet.append(
            f"the rate comes back after {rate['lag_ps'] / 1e9:g} ms, not after the {rtt / 1e9:g} ms of a "
            "round trip"
        )
    if rate["every_ps"] > rtt / 4:
        unmet.append(f"the rate is a mean over {rate['every_ps'] / 1e9:g} ms, not the rate of an instant")
    return {"scheme": "abr"}


def _source(flow: Flow, tcp: Tcp, rtt: int, unmet: list[str]) -> None:
    name = flow["name"]
    need_endless(flow)
    tcp_match.grows_as_reno(flow)
    need(
        not tcp["fast_retransmit"],
        f"flow {name} has fast retransmit; in the model every loss ends in a time-out (tcp.dupthresh = "
        '"never")',
    )
    delayed = tcp["delayed_ack"]
    need(
        delayed is None or delayed["every"] == 1,
        f"flow {name} delays acknowledgements; in the model every packet is acknowledged at once",
    )
    if tcp["fixed_rto_ps"] is None:
        unmet.append("the time-out is estimated and backs off; in the model it is two round trips")
    elif abs(tcp["fixed_rto_ps"] - 2 * rtt) > _NOTABLE * 2 * rtt:
        unmet.append(f"the time-out is {tcp['fixed_rto_ps'] / 1e9:g} ms, not two round trips")


def _flow_row(
    flow: Flow, tcp: Tcp, found: Abr, packets_per_s: Fraction, rtt: int, measured: int
) -> dict[str, Any]:
    packets = found.throughput_packets * float(packets_per_s)
    return {
        "name": flow["name"],
        "cc": tcp["cc"],
        "tcp": tcp["label"],
        "goodput_bps": 8 * tcp["mss"] * packets,
        # Over a run without end every gap is filled.
        "in_order_bps": 8 * tcp["mss"] * packets,
        "timeouts": found.loss_per_round_trip * measured / rtt,
        "fast_retransmits": 0,
    }


def _gate_row(link: Gate, found: Abr, high: int) -> dict[str, Any]:
    return {
        "name": link["name"],
        "rate_mean_bps": found.capacity_packets * high,
        "utilisation": found.efficiency,
    }
