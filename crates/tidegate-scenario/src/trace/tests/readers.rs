//! Readers on good, bad and random input.

use proptest::prelude::*;
use tidegate_core::units::{Span, Time};

use crate::trace::*;

fn read(text: &str, format: Format) -> Result<LoadedTrace, TraceError> {
    parse(text.as_bytes(), "t", Some(format), &TraceOptions::default())
}

pub(super) fn message(text: &str, format: Format) -> String {
    read(text, format).expect_err("this trace is wrong").to_string()
}

fn opportunities(text: &str) -> OpportunityTrace {
    match read(text, Format::Mahimahi) {
        Ok(LoadedTrace::Opportunities(trace)) => trace,
        other => panic!("{text:?} gave {other:?}"),
    }
}

pub(super) fn rates(text: &str, format: Format) -> RateTrace {
    match read(text, format) {
        Ok(LoadedTrace::Rates(trace)) => trace,
        other => panic!("{text:?} gave {other:?}"),
    }
}

pub(super) fn points(trace: &RateTrace) -> Vec<(u64, u64)> {
    trace.points.iter().map(|(at, rate)| (at.picos() / 1_000_000_000, rate.bps())).collect()
}

#[test]
fn mahimahi_single_line_is_12_mbit() {
    let trace = opportunities("1");
    assert_eq!(trace.at, [Time::from_picos(1_000_000_000)]);
    assert_eq!((trace.period, trace.bytes), (Span::from_millis(1), 1500));
    assert_eq!(opportunities("1\n"), trace);
    assert_eq!(opportunities("1\r\n"), trace);
}

#[test]
fn mahimahi_last_line_meets_the_next_round() {
    let trace = opportunities("0\r\n1\r\n2\r\n3\r\n4\r\n5\r\n");
    assert_eq!(trace.at.len(), 6);
    assert_eq!(trace.period, Span::from_millis(5));
}

#[test]
fn mahimahi_opportunity_size_is_an_option() {
    let options = TraceOptions { opportunity_bytes: 1504, ..TraceOptions::default() };
    let Ok(LoadedTrace::Opportunities(trace)) = parse(b"1", "t.up", None, &options) else { panic!() };
    assert_eq!(trace.bytes, 1504);
}

#[test]
fn mahimahi_errors_name_the_line() {
    let m = |text: &str| message(text, Format::Mahimahi);
    let help = "each line is one whole number: milliseconds from the start, as in 120";
    assert_eq!(m(""), format!("t: the file is empty; {help}"));
    assert_eq!(m("\n"), format!("t: the file is empty; {help}"));
    assert_eq!(m("1\n\n2\n"), format!("t, line 2: the line is empty; {help}"));
    assert_eq!(m("1\n\n"), format!("t, line 2: the line is empty; {help}"));
    assert_eq!(
        m("0\n5\n4\n"),
        "t, line 3: read `4`: this line is earlier than the line before it (5); times must not decrease: sort the lines (sort -n)"
    );
    assert_eq!(
        m("0\n0\n"),
        "t, line 2: read `0`: the last value is the length of the recording and cannot be 0; \
         end with a value above 0: the line 1 alone is 1500 bytes every millisecond, 12 Mbit/s"
    );
    for bad in ["12x", "-1", "+1", "1.5", " 1", "1 ", "1e3", "0x1", "# c", "١", "1\t"] {
        // What does not look like numbers is not shown.
        let read = match bad {
            "12x" | "0x1" | "# c" | "١" => String::new(),
            numbers => format!("read `{}`: ", numbers.replace('\t', " ")),
        };
        let expected = format!("t, line 2: {read}not a whole number of milliseconds; {help}");
        assert_eq!(m(&format!("1\n{bad}\n")), expected);
    }
    for huge in ["18446744074", "18446744073709551616", "99999999999999999999999999999"] {
        let expected = format!("t, line 1: read `{huge}`: more than 106 days, longer than any run; {help}");
        assert_eq!(m(huge), expected);
    }
    assert!(m(&"9".repeat(500)).contains('…'));
}

#[test]
fn drp_has_a_fixed_step_in_kilobits() {
    let text = "# name\n# :recommended_freqeuncy=10\n#\n11002\n10946.5\n0\n";
    let trace = rates(text, Format::Drp);
    assert_eq!(points(&trace), [(0, 11_002_000), (100, 10_946_500), (200, 0)]);
    assert_eq!(trace.period, Span::from_millis(300));
    assert_eq!(rates(&text.replace("freqeuncy", "frequency"), Format::Drp), trace);
    assert_eq!(rates(&text.replace('\n', "\r\n"), Format::Drp), trace);
}

/// Three values per second: a third of a second is no whole picosecond, and the hundredth
/// value still begins on the second.
#[test]
fn drp_step_does_not_drift() {
    let text = format!("# :recommended_frequency=3\n{}", "5\n".repeat(301));
    let trace = rates(&text, Format::Drp);
    assert_eq!(trace.points[1].0, Time::from_picos(333_333_333_333));
    assert_eq!(trace.points[300].0, Time::from_picos(100_000_000_000_000));
}

#[test]
fn drp_errors_name_the_line() {
    let m = |text: &str| message(&format!("# :recommended_frequency=10\n{text}"), Format::Drp);
    let help = "each line is one rate in kbit/s, as in 11002 or 11002.5";
    assert_eq!(m("5\nx\n"), format!("t, line 3: not a rate in kbit/s; {help}"));
    assert_eq!(m("5,5\n"), format!("t, line 2: read `5,5`: not a rate in kbit/s; {help}"));
    assert_eq!(m("-5\n"), "t, line 2: read `-5`: a rate cannot be below 0; write 0 for an outage");
    assert_eq!(
        m("1e13\n"),
        "t, line 2: read `10000000000000`: the rate is above 1 Pbit/s; check the unit of the rate"
    );
    assert_eq!(m(""), "t: there is no rate in this file; write one rate in kbit/s on each line");
    assert_eq!(
        m("0\n0\n"),
        "t: the rate is 0 from the first line to the last; let at least one rate be above 0"
    );
    let step = "write `# :recommended_frequency=10` for 10 values per second";
    assert_eq!(
        message("5\n", Format::Drp),
        format!("t: the header does not say how many values there are per second; {step}")
    );
    assert_eq!(
        message("# :recommended_frequency=0\n5\n", Format::Drp),
        format!("t, line 1: the frequency must be above 0; {step}")
    );
}

#[test]
fn drp_step_may_come_from_the_options() {
    let options = TraceOptions { step: Some(Span::from_millis(20)), ..TraceOptions::default() };
    let Ok(LoadedTrace::Rates(trace)) = parse(b"5\n6\n", "t.drp", None, &options) else { panic!() };
    assert_eq!(points(&trace), [(0, 5000), (20, 6000)]);
}

#[test]
fn csv_reads_units_from_its_header() {
    let expected = [(0, 12_000_000), (500, 3_200_000)];
    for text in [
        "time_s,rate_mbps\n0,12\n0.5,3.2\n2,\n",
        "time_ms,rate_kbps\n0,12000\n500,3200\n2000,\n",
        "rate_gbps, time_us\n0.012,0\n0.0032,500000\n,2000000\n",
        "time_s,rate_bps\n0,12e6\n0.5,3200000\n2,\n",
        "# a comment\nTime_s,note,Rate_Mbps\r\n0,x,12\r\n\r\n0.5,y,3.2\r\n2,end,\r\n",
    ] {
        let trace = rates(text, Format::Csv);
        assert_eq!(points(&trace), expected, "{text}");
        assert_eq!(trace.period, Span::from_secs(2), "{text}");
    }
}

#[test]
fn csv_without_a_header_is_asked_for_its_unit() {
    assert_eq!(
        message("0,10\n1,20\n", Format::Csv),
        "t, line 1: read `0,10`: there is no header, so the unit of the rate is not known; write one above this line, \
         such as time_s,rate_mbps (or rate_bps, rate_kbps, rate_gbps), or give the unit (rate_unit), as in tidegate traces \
         info t --rate-unit Mbit/s"
    );
}

#[test]
fn seconds_and_mbps_hold_since_the_line_before() {
    let trace = rates("# video\n10.0 99\n10.5\t4.03\n11.1 3.2000004\n", Format::SecondsMbps);
    assert_eq!(points(&trace), [(0, 4_030_000), (500, 3_200_000)]);
    assert_eq!(trace.period, Span::from_millis(1100));
    let again = rates(&seconds_mbps::write(&trace), Format::SecondsMbps);
    assert_eq!(again, trace);
    for content in ["0.0 10.5\n1 2\n", "0 1\n1 1e1\n"] {
        assert_eq!(detect(content.as_bytes(), "t.txt"), Ok(Format::SecondsMbps));
    }
    assert!(detect(b"1\n2\n", "t.txt").is_err());
}

#[test]
fn errors_of_seconds_and_mbps_name_the_line() {
    let m = |text: &str| message(text, Format::SecondsMbps);
    let form = "write seconds and Mbit/s on each line, as in 0.5 3.2";
    assert_eq!(m("0 1\n1\n"), format!("t, line 2: read `1`: this is not two numbers; {form}"));
    assert_eq!(m("0 1\n"), format!("t: one line is no recording: its throughput has no beginning; {form}"));
    assert_eq!(m(""), format!("t: there are no rows in this file; {form}"));
    assert!(m("1 1\n1 2\n").contains("not later than the line before"));
    assert!(m("0 1\n1 99999999999\n").contains("above 1 Pbit/s"));
}

#[test]
fn csv_without_an_end_holds_as_long_as_before() {
    let trace = rates("time_s,rate_mbps\n0,12\n0.5,3.2\n", Format::Csv);
    assert_eq!(trace.period, Span::from_secs(1));
}

#[test]
fn csv_errors_name_the_line() {
    let m = |text: &str| message(&format!("time_s,rate_mbps\n{text}"), Format::Csv);
    let numbers = "write plain numbers, as in 0.5,3.2";
    assert_eq!(m("0,x\n"), format!("t, line 2: the rate is not a number; {numbers}"));
    let times = "write times as plain numbers, as in 0.5, or as dates, as in 2021-12-15 16:05:11";
    assert_eq!(m("0,1\nx,1\n"), format!("t, line 3: the time is not a number; {times}"));
    assert_eq!(
        m("15.12.2021 16:05:11,7\n"),
        format!("t, line 2: read `15.12.2021 16:05:11,7`: the time is not a number; {times}")
    );
    assert_eq!(m("0\n"), "t, line 2: read `0`: a column is missing; write one time and one rate");
    assert_eq!(m("0,-1\n"), "t, line 2: read `0,-1`: the rate is below 0; write 0 for an outage");
    assert_eq!(m("-1,1\n"), "t, line 2: read `-1,1`: the time is below 0; times begin at 0");
    assert_eq!(
        m("0,1\n2,1\n1,3\n"),
        "t, line 4: read `1,3`: this row is earlier than the row before it; times must not decrease: sort the rows, or \
         if these are several recordings, keep the rows of one (where)"
    );
    assert_eq!(
        m("0,1\n"),
        "t, line 2: a single row needs an end time; end with a row that has a time and no rate, as in 10,"
    );
    assert_eq!(m(""), "t: there are no rows in this file; write time_s,rate_mbps and then rows like 0,12");
    let header = message("t,r\n0,1\n", Format::Csv);
    assert!(header.starts_with("t, line 1: the header names no time column; "), "{header}");
    let twice = message("time_s,time_ms,rate_bps\n", Format::Csv);
    assert!(twice.contains("there are two time columns or two rate columns"), "{twice}");
}

#[test]
fn the_format_is_found_by_name_then_content() {
    let find = |name: &str, text: &str| detect(text.as_bytes(), name);
    assert_eq!(find("a.up", "1\n"), Ok(Format::Mahimahi));
    assert_eq!(find("a.DOWN", "0,1\n"), Ok(Format::Mahimahi));
    assert_eq!(find("a.drp", "1\n"), Ok(Format::Drp));
    assert_eq!(find("a.csv", "# :recommended_freqeuncy=10\n1\n"), Ok(Format::Drp));
    assert_eq!(find("a.csv", "time,rate\n"), Ok(Format::Csv));
    assert_eq!(find("a.txt", "# c\n\n0,1\n"), Ok(Format::Csv));
    assert_eq!(
        find("a.txt", "1\n2\n").map_err(|error| error.to_string()),
        Err("a.txt, line 1: read `1`: one number on each line could be milliseconds (Mahimahi) or kbit/s (DRP); \
             give the format: mahimahi or drp (or rename the file to end in .up, .down or .drp); of other rates the time \
             from one to the next and the unit, as in --step '1 s' --rate-unit Mbit/s"
            .to_owned())
    );
    assert_eq!(
        find("a.txt", "").map_err(|error| error.to_string()),
        Err("a.txt: there is no data in this file; give a Mahimahi, DRP or CSV trace".to_owned())
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = load(Path::new("/no/such.down"), None, &TraceOptions::default()).expect_err("no such file");
    assert!(error.to_string().starts_with("/no/such.down: cannot read the trace ("), "{error}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        for format in [None, Some(Format::Mahimahi), Some(Format::Drp), Some(Format::Csv)] {
            let _ = parse(&bytes, "t", format, &TraceOptions::default());
        }
    }

    #[test]
    fn near_misses_never_panic(text in "([0-9]{0,22}|[-+.,e#\r\n:]|time_s,rate_mbps\n|# :recommended_frequency=10\n){0,30}") {
        for format in [None, Some(Format::Mahimahi), Some(Format::Drp), Some(Format::Csv)] {
            if let Err(error) = parse(text.as_bytes(), "t", format, &TraceOptions::default()) {
                let whole = error.to_string();
                prop_assert!(whole.starts_with("t") && whole.contains("; ") && !whole.contains('\n'), "{}", whole);
            }
        }
    }
}
