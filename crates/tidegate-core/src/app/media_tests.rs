//! Packets of media frames, by hand.

use super::*;
use crate::plan::{KeyFramesPlan, LARGEST_MEDIA_FRAME, MediaPlan, SizePlan, SourcePlan};
use crate::random::Seed;
use crate::units::Span;

fn rng(seed: u64) -> Stream {
    Seed { seed, replication: 0 }.stream("media")
}

/// 25 frames a second of 2500 bytes in packets of up to 1000 beside 40 of headers; each third frame has 900 bytes.
fn plan() -> MediaPlan {
    MediaPlan {
        frames_per_1000_s: 25_000,
        frame: SizePlan::Constant(2500),
        key_frames: Some(KeyFramesPlan { every: 3, size: SizePlan::Constant(900) }),
        packet: 1040,
        headers: 40,
        spread: Span::ZERO,
        deadline: None,
    }
}

/// When, how many bytes, and of how many packets the frame is that it begins.
type Packet = (Time, u32, Option<u32>);

fn packets(plan: MediaPlan, seed: u64, count: usize) -> Vec<Packet> {
    let source = SourcePlan::Media(Box::new(plan));
    let mut arrivals = ArrivalProcess::new(&source, Time::ZERO + Span::from_millis(7), rng(seed));
    let mut next = || {
        let (at, bytes) = arrivals.next().expect("media never end");
        (at, bytes, arrivals.begun())
    };
    (0..count).map(|_| next()).collect()
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

#[test]
fn packets_of_a_frame_go_back_to_back() {
    let expected = [
        (at(7_000), 940, Some(1)),
        (at(47_000), 1040, Some(3)),
        (at(47_000), 1040, None),
        (at(47_000), 540, None),
        (at(87_000), 1040, Some(3)),
        (at(87_000), 1040, None),
        (at(87_000), 540, None),
        (at(127_000), 940, Some(1)),
    ];
    assert_eq!(packets(plan(), 1, 8), expected);
}

/// Three packets within 30 ms: 10 ms apart, and the next frame 20 ms after the last of them.
#[test]
fn packets_of_a_frame_are_spread() {
    let spread = MediaPlan { key_frames: None, spread: Span::from_millis(30), ..plan() };
    let times: Vec<Time> = packets(spread, 1, 6).into_iter().map(|(at, ..)| at).collect();
    assert_eq!(times, [7_000, 17_000, 27_000, 47_000, 57_000, 67_000].map(at));
}

/// 29.97 frames a second: frame n begins ⌊n · 10¹⁵ / 29970⌋ ps after the first.
#[test]
fn frames_never_drift() {
    let plan =
        MediaPlan { frames_per_1000_s: 29_970, frame: SizePlan::Constant(1), key_frames: None, ..plan() };
    for (n, (at, bytes, begins)) in (0_u64..).zip(packets(plan, 1, 100_000)) {
        let since = u128::from(n) * 1_000_000_000_000_000 / 29_970;
        let expected = Time::from_picos(7_000_000_000 + since as u64);
        assert_eq!((at, bytes, begins), (expected, 41, Some(1)));
    }
}

#[test]
fn sizes_are_drawn_from_the_seed() {
    let drawn = MediaPlan { frame: SizePlan::Exponential { mean: 5000 }, ..plan() };
    assert_eq!(packets(drawn.clone(), 1, 1000), packets(drawn.clone(), 1, 1000));
    assert_ne!(packets(drawn.clone(), 1, 1000), packets(drawn.clone(), 2, 1000));
    // Of 20,000 frames two thirds have 5000 bytes on average; deviation of the mean 5000/√13,333 = 43.
    let media = |packets: &[Packet]| packets.iter().map(|(_, bytes, _)| f64::from(bytes - 40)).sum::<f64>();
    let all = packets(drawn.clone(), 3, 90_000);
    let frames = all.iter().filter(|(.., begins)| begins.is_some()).count() as f64;
    let (mean, expected) = (media(&all) / frames, drawn.mean_frame());
    assert!((expected - 3633.3).abs() < 0.1, "{expected}");
    assert!((mean - expected).abs() < 130.0, "{mean}");
}

#[test]
fn a_frame_is_not_endless() {
    let huge = MediaPlan { frame: SizePlan::Constant(1 << 39), key_frames: None, ..plan() };
    let (_, _, begins) = packets(huge, 1, 1)[0];
    assert_eq!(begins, Some((LARGEST_MEDIA_FRAME / 1000) as u32));
}
