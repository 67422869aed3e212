//! Rules of players written in Python: their base class, what they are told, and what they answer.

use pyo3::intern;
use pyo3::prelude::*;
use tidegate_core::app::video::{Choice, ChoosesBitrate};
use tidegate_core::plan::{PythonClass, VideoPlan};

use super::failure::note;
use super::maker::class_of;
use crate::error::ControllerError;

/// The base class of rules by which a player of video chooses bitrates. A subclass has `choose`.
#[pyclass(subclass, module = "tidegate", name = "VideoRule")]
pub(crate) struct VideoRule {
    /// Bitrates in bit/s, rising.
    #[pyo3(get)]
    ladder_bps: Vec<f64>,
    /// Media time of a segment, in seconds.
    #[pyo3(get)]
    segment_s: f64,
    /// Most media time in the buffer, in seconds.
    #[pyo3(get)]
    buffer_s: f64,
}

#[pymethods]
impl VideoRule {
    #[new]
    #[pyo3(signature = (*, ladder_bps = vec![1e6], segment_s = 4.0, buffer_s = 60.0))]
    fn new(ladder_bps: Vec<f64>, segment_s: f64, buffer_s: f64) -> VideoRule {
        VideoRule { ladder_bps, segment_s, buffer_s }
    }

    /// Return the place in the ladder of the next segment's bitrate; by itself the lowest.
    #[pyo3(signature = (choice, /))]
    fn choose(&mut self, choice: &Bound<'_, VideoChoice>) -> usize {
        let _ = choice;
        0
    }
}

/// What a rule is told when the next segment is to be asked for.
#[pyclass(frozen, module = "tidegate", name = "VideoChoice")]
pub(crate) struct VideoChoice(Choice);

#[pymethods]
impl VideoChoice {
    /// The segment's number; the first is 0.
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }

    /// When it is, in seconds.
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.at.as_secs_f64()
    }

    /// Media time in the buffer, in seconds.
    #[getter]
    fn buffered_s(&self) -> f64 {
        self.0.buffered.as_secs_f64()
    }

    /// The place in the ladder of the segment before; None: this is the first.
    #[getter]
    fn last(&self) -> Option<usize> {
        self.0.last
    }

    /// User bytes of the segment at each bitrate of the ladder.
    #[getter]
    fn sizes_bytes(&self) -> Vec<u64> {
        self.0.bytes.clone()
    }

    /// User bytes of the newest segment that has come; None: none has.
    #[getter]
    fn came_bytes(&self) -> Option<u64> {
        self.0.came.map(|(bytes, _)| bytes)
    }

    /// How long the newest segment took, in seconds; None: none has come.
    #[getter]
    fn came_s(&self) -> Option<f64> {
        self.0.came.map(|(_, took)| took.as_secs_f64())
    }

    /// The throughput advice in force, in bit/s; None: no gate has given any in the last 67 s.
    #[getter]
    fn advice_bps(&self) -> Option<f64> {
        self.0.advice.map(|rate| rate.bps() as f64)
    }
}

/// A rule in Python as the player sees it.
#[derive(Debug)]
struct InPython {
    /// `None`: it has failed, and the lowest bitrate is taken.
    object: Option<Py<VideoRule>>,
    /// As the scenario names it.
    name: String,
    rungs: usize,
}

/// Makes a user's rule for one player.
pub(crate) fn make_rule(own: &PythonClass, plan: &VideoPlan) -> Box<dyn ChoosesBitrate> {
    let object = Python::attach(|py| match instance(py, own, plan) {
        Ok(object) => Some(object),
        Err(raised) => {
            note(py, &own.name, raised);
            None
        }
    });
    Box::new(InPython { object, name: own.name.clone(), rungs: plan.ladder.len() })
}

fn instance(py: Python<'_>, own: &PythonClass, plan: &VideoPlan) -> PyResult<Py<VideoRule>> {
    let class = class_of::<VideoRule>(py, own, "VideoRule")?;
    let options = pyo3::types::PyDict::new(py);
    let ladder: Vec<f64> = plan.ladder.iter().map(|rate| rate.bps() as f64).collect();
    options.set_item("ladder_bps", ladder)?;
    options.set_item("segment_s", plan.segment.as_secs_f64())?;
    options.set_item("buffer_s", plan.buffer.as_secs_f64())?;
    Ok(class.call((), Some(&options))?.cast_into::<VideoRule>()?.unbind())
}

impl ChoosesBitrate for InPython {
    fn choose(&mut self, choice: &Choice) -> usize {
        let Some(object) = &self.object else { return 0 };
        let chosen = Python::attach(|py| {
            let told = VideoChoice(choice.clone());
            let answer = object.bind(py).call_method1(intern!(py, "choose"), (told,));
            let answer = answer.and_then(|answer| {
                let place = answer.extract::<usize>().ok().filter(|place| *place < self.rungs);
                place.ok_or_else(|| {
                    let last = self.rungs - 1;
                    let text = answer.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
                    ControllerError::new_err(format!(
                        "{}: choose: read {text}; return a place in the ladder, 0 to {last}",
                        self.name
                    ))
                })
            });
            answer.map_err(|raised| note(py, &self.name, raised)).ok()
        });
        if chosen.is_none() {
            self.object = None;
        }
        chosen.unwrap_or(0)
    }
}
