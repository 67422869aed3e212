//! `traffic.x.source.media` to [`MediaPlan`].

use tidegate_core::plan::{KeyFramesPlan, LARGEST_MEDIA_FRAME, MediaPlan, SizePlan};

use super::request::size;
use crate::check::{Form, Item};
use crate::inputs::Library;
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_PACKET, bytes_u32};

/// A source of media; `None` where something was wrong.
pub(crate) fn media(form: &Form, library: &mut Library, notes: &mut Notes) -> Option<MediaPlan> {
    let key_frames = form.table("key_frames").map(|key| {
        let size = frame(key.get("size")?, library, notes)?;
        Some(KeyFramesPlan { every: key.whole("every")?, size })
    });
    let plan = MediaPlan {
        frames_per_1000_s: frame_rate(form.get("frame_rate")?, notes)?,
        frame: frame(form.get("frame")?, library, notes)?,
        key_frames: match key_frames {
            Some(key) => Some(key?),
            None => None,
        },
        packet: bytes_u32(form.get("packet"), LARGEST_PACKET, notes),
        headers: bytes_u32(form.get("headers"), LARGEST_PACKET, notes),
        spread: form.span("spread")?,
        deadline: form.span("deadline"),
    };
    check_packet(form, &plan, notes);
    check_spread(form, &plan, notes);
    Some(plan)
}

/// Frames in 1000 seconds.
fn frame_rate(item: &Item, notes: &mut Notes) -> Option<u64> {
    const MOST: f64 = 1e6;
    let rate = item.real()?;
    let thousandths = (rate * 1000.0).round();
    if rate > MOST {
        notes.wrong(
            item,
            format!("{rate} frames per second are more than {MOST}"),
            format!("write {MOST} or less"),
        );
        None
    } else if thousandths < 1.0 || (thousandths - rate * 1000.0).abs() > 1e-6 * thousandths {
        let near = (thousandths / 1000.0).max(0.001);
        let problem = format!("{rate} frames per second have more than three decimals");
        notes.wrong(item, problem, format!("write {near}"));
        None
    } else {
        Some(thousandths as u64)
    }
}

/// Media bytes of a frame.
fn frame(item: &Item, library: &mut Library, notes: &mut Notes) -> Option<SizePlan> {
    let law = size(item, library, notes)?;
    if let SizePlan::Constant(bytes) = law
        && bytes > LARGEST_MEDIA_FRAME
    {
        notes.wrong(item, "a media frame is at most 16 MB", "write \"16 MB\" or less");
        return None;
    }
    Some(law)
}

fn check_packet(form: &Form, plan: &MediaPlan, notes: &mut Notes) {
    if plan.packet > plan.headers {
        return;
    }
    let Some(item) = form.given("packet").or_else(|| form.get("headers")) else { return };
    let problem = format!("a packet of {} B has no room beside headers of {} B", plan.packet, plan.headers);
    notes.wrong(item, problem, format!("make packet larger than \"{} B\", or headers smaller", plan.headers));
}

fn check_spread(form: &Form, plan: &MediaPlan, notes: &mut Notes) {
    let Some(item) = form.get("spread").filter(|_| plan.spread > plan.interval()) else { return };
    let between = plan.interval();
    let problem = format!("a spread of {} is longer than the time between frames, {between}", plan.spread);
    notes.wrong(item, problem, "write a time that is not longer, or a lower frame_rate");
}
