//! What the scoreboard keeps at hand beside its records agrees with them.

use proptest::prelude::*;

use super::*;

/// A board of segments so long, at most 10 bytes, of which the last of each packet is marked with `true`.
fn board_of(segments: &[(u32, bool)]) -> Scoreboard {
    let mut board = Scoreboard::default();
    board.count_segments(10);
    let mut end = 0;
    for (len, last) in segments {
        end += u64::from(*len);
        board.push(end, if *last { *len } else { *len | GOES_ON }, Time::ZERO);
        if *len < 10 {
            board.note_short();
        }
    }
    board
}

#[test]
fn segments_count_whatever_their_length() {
    let mut board = board_of(&[(10, true), (3, true), (1, true)]);
    // The pipe is 14 bytes less the holes: three full segments.
    assert_eq!(board.holes(), -16);
    board.lose(1, RESENT);
    assert_eq!(board.holes(), -6);
    let lost = board.next_lost().unwrap();
    board.resend(lost, Time::ZERO, RESENT);
    assert_eq!(board.holes(), -16);
    board.sack_each(0, 13, 14, |_, _| {});
    assert_eq!(board.holes(), -6);
    // One byte of the first is left.
    board.acknowledge(9);
    assert_eq!((board.holes(), board.uncut), (-15, 9));
    board.acknowledge(14);
    assert_eq!((board.holes(), board.uncut), (0, 0));
}

#[test]
fn what_is_left_of_a_packet_is_cut_anew() {
    let bounds = |board: &Scoreboard| -> Vec<(u64, u32)> {
        (board.first..board.next).map(|number| board.describe(number)).map(|is| (is.start, is.len)).collect()
    };
    let mut board = board_of(&[(10, false), (10, false), (5, true), (10, true)]);
    let removed = board.acknowledge(8);
    // 17 bytes are two segments.
    assert_eq!((removed.count, bounds(&board)), (1, vec![(8, 10), (18, 7), (25, 10)]));
    assert_eq!((board.holes(), board.uncut), (-3, 0));
    board.acknowledge(14);
    assert_eq!((bounds(&board), board.uncut), (vec![(14, 4), (18, 7), (25, 10)], 0));
}

#[test]
fn records_survive_growing_and_shrinking() {
    let mut board = Scoreboard::default();
    let at = |number: u64| Time::from_picos(number * 7);
    let mut pushed = 0;
    for (burst, left) in [(1000, 3), (40, 20), (5000, 600), (1, 0), (300, 1)] {
        for _ in 0..burst {
            pushed += 1;
            board.push(pushed * 10, 10, at(pushed));
        }
        let acknowledged = pushed - left;
        let removed = board.acknowledge(acknowledged * 10);
        assert_eq!((removed.marks, removed.sent_at), (0, at(acknowledged)));
        assert!(board.slots.len() <= SMALL.max(left as usize * 8), "{} for {left}", board.slots.len());
        assert_eq!((board.first, board.next), (acknowledged, pushed));
        for number in board.first..board.next {
            let record = Sent { at: at(number + 1), end: (number as u32 + 1) * 10, word: 10 };
            assert_eq!(*board.slot(number), record);
        }
    }
}

/// Bytes of a segment.
const LEN: u64 = 10;

/// What may happen to a scoreboard; numbers are taken modulo what there is.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Push(u64),
    Acknowledge(u64),
    /// Blocks of an ACK: each begins after so many segments and has so many.
    Sack([(u64, u64); MOST_BLOCKS]),
    Lose(u64),
    Resend(u64),
    /// A copy is not on its way any more.
    TakeCopy(u64),
    FindLost,
    LoseAll(bool),
    LoseFirst,
    FindAll,
}

fn happenings() -> impl Strategy<Value = Happening> {
    prop_oneof![
        8 => (1_u64..20).prop_map(Happening::Push),
        3 => (0_u64..10).prop_map(Happening::Acknowledge),
        12 => any::<[(u8, u8); MOST_BLOCKS]>().prop_map(|blocks| {
            Happening::Sack(blocks.map(|(after, count)| (u64::from(after % 40), u64::from(count % 12))))
        }),
        6 => any::<u64>().prop_map(Happening::Lose),
        8 => (1_u64..8).prop_map(Happening::Resend),
        1 => any::<u64>().prop_map(Happening::TakeCopy),
        3 => Just(Happening::FindLost),
        1 => any::<bool>().prop_map(Happening::LoseAll),
        1 => Just(Happening::LoseFirst),
        1 => Just(Happening::FindAll),
    ]
}

/// A number of a record outstanding.
fn pick(board: &Scoreboard, number: u64) -> Option<u64> {
    (board.first != board.next).then(|| board.first + number % (board.next - board.first))
}

/// The next lost segment that was not sent again, found by looking at each.
fn scan(board: &Scoreboard) -> Option<u64> {
    let end = board.lost_end.min(board.next);
    (board.cursor.max(board.first)..end).find(|number| {
        let sent = board.slot(*number);
        sent.marked(LOST) && !sent.marked(SACKED | RESENT)
    })
}

/// The blocks of an ACK, of which those that no ACK has named before are new.
fn sack(board: &mut Scoreboard, blocks: [(u64, u64); MOST_BLOCKS]) {
    for (rank, (after, count)) in blocks.into_iter().enumerate() {
        let from = (board.first + after).min(board.next);
        let to = (from + count).min(board.next);
        let delivery: Vec<u64> = (from..to).filter(|number| !board.slot(*number).marked(SACKED)).collect();
        let mut told = Vec::new();
        let any = board.sack_each(rank, from * LEN, to * LEN, |number, _| told.push(number));
        assert_eq!((any, &told), (!delivery.is_empty(), &delivery));
        assert!((from..to).all(|number| board.slot(number).marked(SACKED)));
    }
}

fn apply(board: &mut Scoreboard, happening: Happening) {
    match happening {
        Happening::Push(count) => {
            for _ in 0..count {
                board.push((board.next + 1) * LEN, LEN as u32, Time::from_picos(board.next));
            }
        }
        Happening::Acknowledge(count) => {
            board.acknowledge((board.first + count).min(board.next) * LEN);
        }
        Happening::Sack(blocks) => sack(board, blocks),
        Happening::Lose(number) => {
            if let Some(number) = pick(board, number).filter(|number| !board.slot(*number).marked(SACKED)) {
                board.lose(number, RESENT);
            }
        }
        Happening::Resend(count) => {
            for _ in 0..count {
                let expected = scan(board);
                let next = board.next_lost();
                assert_eq!(next.map(|lost| lost.number), expected);
                if let Some(lost) = next {
                    board.resend(lost, Time::ZERO, RESENT);
                }
            }
        }
        Happening::TakeCopy(number) => {
            if let Some(number) = pick(board, number) {
                board.mark(number, 0, RESENT);
            }
        }
        Happening::FindLost => board.find_lost(3, LEN as u32),
        Happening::LoseAll(forget) => {
            let records = (board.first..board.next).map(|number| *board.slot(number));
            let lost = records.filter(|sent| {
                (forget || !sent.marked(SACKED)) && (!sent.marked(LOST) || sent.marked(RESENT))
            });
            let expected = board.lost_total + lost.map(|sent| u64::from(sent.len())).sum::<u64>();
            board.lose_all(forget);
            assert_eq!(board.lost_total, expected);
        }
        Happening::LoseFirst => board.lose_first(),
        Happening::FindAll => board.find_all(),
    }
}

proptest! {
    /// Whatever happens: SACK blocks mark what they name, however much of it is known; what is to be sent again is found; and
    /// what is counted is what a look at each record counts.
    #[test]
    fn what_is_counted_is_what_is_there(happenings in prop::collection::vec(happenings(), 1..120)) {
        let mut board = Scoreboard::default();
        for happening in happenings {
            apply(&mut board, happening);
            let records = || (board.first..board.next).map(|number| *board.slot(number));
            let count = |which: fn(&Sent) -> bool| records().filter(which).count() as u64;
            prop_assert_eq!(u64::from(board.waiting), count(|sent| sent.marked(LOST) && !sent.marked(SACKED | RESENT)));
            prop_assert_eq!(board.copies, count(|sent| sent.marked(RESENT) && !sent.marked(SACKED)));
            prop_assert_eq!(u64::from(board.marked), count(|sent| sent.is_marked()));
            let bytes = |which: fn(&Sent) -> bool| records().filter(which).map(|sent| i64::from(sent.len())).sum::<i64>();
            let copies = bytes(|sent| sent.marked(RESENT) && !sent.marked(SACKED));
            prop_assert_eq!(board.holes(), bytes(|sent| sent.marked(SACKED | LOST)) - copies);
        }
    }
}
