//! Queue disciplines in words.

use tidegate_core::plan::{CoDelPlan, Discipline, DualPi2Plan, RedPlan, StepThreshold};

use crate::units::Amount;

/// What a discipline amounts to.
pub(super) fn lines(discipline: Discipline) -> Vec<String> {
    let mut lines = Vec::new();
    match discipline {
        Discipline::DropTail => {}
        Discipline::Step(threshold) => {
            let above = match threshold {
                StepThreshold::Packets(packets) => Amount::Packets(packets),
                StepThreshold::Bytes(bytes) => Amount::Bytes(bytes),
            };
            lines.push(format!(
                "a packet that finds more than {above} is marked, or dropped if its flow does not use ECN"
            ));
        }
        Discipline::Red(plan) => lines.extend(red_lines(plan)),
        Discipline::CoDel(plan) => lines.extend(codel_lines(plan)),
        Discipline::Pie(plan) => lines.push(format!(
            "packets that arrive are marked, or dropped, with a probability that holds their wait near {}",
            plan.target
        )),
        Discipline::FqCoDel(plan) => {
            lines.push(
                "each flow has a queue of its own; they take turns by bytes, and a new one goes first"
                    .to_owned(),
            );
            lines.extend(codel_lines(plan.codel));
        }
        Discipline::DualPi2(plan) => lines.extend(dualpi2_lines(plan)),
        // Its tins have lines of their own.
        Discipline::Cake(_) => {}
    }
    lines
}

fn red_lines(plan: RedPlan) -> Vec<String> {
    let amount = |length: u64| if plan.in_bytes { Amount::Bytes(length) } else { Amount::Packets(length) };
    let (min, max, all) = (amount(plan.min), amount(plan.max), amount(plan.max.saturating_mul(2)));
    let percent = plan.max_p as f64 / 1e16;
    let mut lines = vec![format!(
        "a packet is marked, or dropped if its flow does not use ECN, with a probability that rises from 0% where the \
         average queue is {min} to {percent}% where it is {max}"
    )];
    let (top, hard) = if plan.gentle { (all, "it rises on to 100% at ") } else { (max, "it is 100% from ") };
    let ending = if plan.hard_drop { ", where ECN-capable packets are dropped too" } else { "" };
    lines.push(format!("{hard}{top}{}{ending}", if plan.gentle { "" } else { " on" }));
    let arrivals = 1e9 / f64::from(plan.weight.max(1));
    lines.push(format!(
        "the average follows the queue within about {arrivals:.0} arrivals; while nothing is sent, {} count as one",
        plan.packet_time
    ));
    for (colour, curve) in ["green", "yellow", "red"].iter().zip(plan.colours) {
        if let Some(own) = curve {
            let most = own.max_p as f64 / 1e16;
            lines.push(format!(
                "{colour} packets: 0% at {}, {most}% at {}",
                amount(own.min),
                amount(own.max)
            ));
        }
    }
    if let Some(adaptive) = plan.adaptive {
        lines.push(format!("every {} the {percent}% are adapted to the average", adaptive.interval));
    }
    lines
}

fn codel_lines(plan: CoDelPlan) -> Vec<String> {
    let CoDelPlan { target, interval, ce_threshold } = plan;
    let mut lines = vec![
        format!(
            "after {interval} of waits above {target} a packet is marked, or dropped if its flow does not use ECN"
        ),
        format!("the next ones follow {interval} / sqrt(n) apart until packets wait less"),
    ];
    lines.extend(
        ce_threshold.map(|most| format!("an ECN-capable packet that waited longer than {most} is marked")),
    );
    lines
}

fn dualpi2_lines(plan: DualPi2Plan) -> Vec<String> {
    let DualPi2Plan { target, coupling, step, step_units, step_spares, .. } = plan;
    let k = f64::from(coupling) / 1e6;
    let when = match step_units {
        Some(most) => format!("if they leave more than {most} of them behind"),
        None => format!("if they waited longer than {step} and leave more than {step_spares} of them behind"),
    };
    vec![
        format!("packets with ECT(1) have a queue of their own, and are marked {when}"),
        format!(
            "others are marked, or dropped, with p^2, where p holds their wait near {target}; L4S packets are marked \
             with {k} p or more"
        ),
    ]
}
