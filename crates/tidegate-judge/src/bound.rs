//! A bound of a rule: a number of a run, a comparison and a limit.

use tidegate_result::{Summary, student_t};

/// A bound, such as `gate.link.queue_delay_p99_ms < 60 ms`.
pub(crate) struct Bound {
    /// As it is written.
    pub(crate) text: String,
    pub(crate) number: Number,
    /// Or below.
    above: bool,
    /// In the unit of the number.
    limit: f64,
}

/// A number of a run that a rule is about.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    /// Share of the link's rate.
    Utilisation,
    /// Share of the link's packets.
    Loss,
    /// In ms.
    QueueDelayP99,
    /// Of the first flow, in bit/s.
    Goodput,
    /// Jain's index of all flows' goodput.
    Fairness,
}

impl Number {
    const NAMES: [(&str, Number); 5] = [
        ("gate.link.utilisation", Number::Utilisation),
        ("gate.link.loss", Number::Loss),
        ("gate.link.queue_delay_p99_ms", Number::QueueDelayP99),
        ("flow.one.goodput_bps", Number::Goodput),
        ("fairness", Number::Fairness),
    ];

    /// The number of a run; none where the run has no such number.
    pub(crate) fn of(self, run: &Summary) -> Option<f64> {
        let gate = &run.gates[0];
        match self {
            Number::Utilisation => gate.utilisation,
            Number::Loss => gate.loss,
            Number::QueueDelayP99 => gate.queue_delay_p99_ms,
            Number::Goodput => run.flows[0].goodput_bps,
            Number::Fairness => {
                let each: Vec<f64> = run.flows.iter().filter_map(|flow| flow.goodput_bps).collect();
                let of = |power| each.iter().map(|goodput| goodput.powi(power)).sum::<f64>();
                (of(2) > 0.0).then(|| of(1).powi(2) / (each.len() as f64 * of(2)))
            }
        }
    }
}

impl Bound {
    /// The bound in words of the suite's file: a number, `>` or `<`, a limit and its unit.
    pub(crate) fn read(text: &str) -> Bound {
        let words: Vec<&str> = text.split([' ', '%']).filter(|word| !word.is_empty()).collect();
        let number = Number::NAMES.into_iter().find(|(name, _)| *name == words[0]);
        let unit = if text.ends_with('%') { "%" } else { words.get(3).copied().unwrap_or("") };
        let worth = [("%", 0.01), ("Mbit/s", 1e6), ("ms", 1.0), ("", 1.0)]
            .into_iter()
            .find(|(word, _)| *word == unit)
            .expect("a unit of the suite")
            .1;
        assert!([">", "<"].contains(&words[1]), "a comparison in {text:?}");
        Bound {
            text: text.to_owned(),
            number: number.expect("a number of the suite").1,
            above: words[1] == ">",
            limit: words[2].parse::<f64>().expect("a limit") * worth,
        }
    }

    /// As [`Verdict::holds`](crate::Verdict::holds), of the numbers of all runs.
    pub(crate) fn holds(&self, measured: &[Option<f64>]) -> Option<bool> {
        let Some(values) = measured.iter().copied().collect::<Option<Vec<f64>>>() else { return Some(false) };
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let freedom = values.len() as u64 - 1;
        let half = student_t(0.975, freedom).map_or(0.0, |quantile| {
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom as f64;
            quantile * (variance / n).sqrt()
        });
        let right = |value: f64| if self.above { value > self.limit } else { value < self.limit };
        match [right(mean - half), right(mean + half)] {
            [one, other] if one == other => Some(one),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bound;

    #[test]
    fn a_bound_holds_for_the_whole_interval_or_for_the_only_number() {
        let bound = Bound::read("flow.one.goodput_bps > 10 Mbit/s");
        let of = |values: &[f64]| bound.holds(&values.iter().copied().map(Some).collect::<Vec<_>>());
        assert_eq!(of(&[10.1e6]), Some(true));
        assert_eq!(of(&[9.9e6]), Some(false));
        // The interval of three runs has 4.303 standard errors on each side.
        assert_eq!(of(&[10.9e6, 11.0e6, 11.1e6]), Some(true));
        assert_eq!(of(&[10.0e6, 11.0e6, 12.0e6]), None);
        assert_eq!(of(&[7.9e6, 8.0e6, 8.1e6]), Some(false));
        assert_eq!(bound.holds(&[Some(11e6), None]), Some(false));
        let loss = Bound::read("gate.link.loss < 0.01%");
        assert_eq!(loss.holds(&[Some(0.000_09)]), Some(true));
        assert_eq!(loss.holds(&[Some(0.000_11)]), Some(false));
    }
}
