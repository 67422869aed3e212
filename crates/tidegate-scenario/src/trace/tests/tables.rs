//! Tables in the forms in which people publish them; the numbers are made up.

use tidegate_core::units::Span;

use super::readers::points;
use crate::trace::{ColumnOptions, LoadedTrace, RateTrace, Remarked, TraceOptions, parse_with_remarks};

fn options(pairs: &[(&str, &str)]) -> TraceOptions {
    let mut options = TraceOptions::default();
    for (name, value) in pairs {
        let columns = &mut options.columns;
        match *name {
            "time" => columns.time = Some((*value).to_owned()),
            "rate" => columns.rate = Some((*value).to_owned()),
            "time_unit" => columns.time_unit = value.parse().ok(),
            "rate_unit" => columns.rate_unit = value.parse().ok(),
            "only" => columns.only = Some((*value).to_owned()),
            _ => options.step = Some(Span::from_millis(value.parse().expect("milliseconds"))),
        }
    }
    options
}

fn told(text: &str, pairs: &[(&str, &str)]) -> (RateTrace, Vec<String>) {
    match parse_with_remarks(text.as_bytes(), "t.csv", None, &options(pairs)) {
        Ok(Remarked { trace: LoadedTrace::Rates(trace), remarks }) => (trace, remarks),
        other => panic!("{text:?} gave {other:?}"),
    }
}

fn read(text: &str, pairs: &[(&str, &str)]) -> (Vec<(u64, u64)>, u64) {
    let (trace, _) = told(text, pairs);
    (points(&trace), trace.period.picos() / 1_000_000_000)
}

fn refused(text: &str, pairs: &[(&str, &str)]) -> String {
    parse_with_remarks(text.as_bytes(), "t.csv", None, &options(pairs)).expect_err("no trace").to_string()
}

const TWO: ([(u64, u64); 2], u64) = ([(0, 7_696_408), (1000, 12_500_000)], 2000);

fn two() -> (Vec<(u64, u64)>, u64) {
    (TWO.0.to_vec(), TWO.1)
}

#[test]
fn dates_and_units_in_names_are_read() {
    for text in [
        "Time,Speed,RATE(MBit/s)\nWed Dec 15 16:05:11 UTC 2021,0,7.69640822018939\nWed Dec 15 16:05:12 UTC 2021,0,12.5\n",
        "time,throughput_mbps,retrans\n2024-05-27T10:54:55.820867,7.696408,0\n2024-05-27T10:54:56.820867,12.5,0\n",
        "timestamp;bitrate [kbps]\n1639584311000;7696,408\n1639584312000;12500\n",
        "ts\tMbits/sec\n1639584311\t7.696408\n1639584312\t12.5\n",
    ] {
        assert_eq!(read(text, &[]), two(), "{text}");
    }
    let bytes = "epoch,bytes/s\n1639584311.5,962051\n1639584312.5,1562500\n";
    assert_eq!(read(bytes, &[]), two());
    // Without a header, and between white space.
    assert_eq!(read("2021-12-15 16:05:11,7.696408 Mbit/s\n2021-12-15 16:05:12,12.5 Mbit/s\n", &[]), two());
    assert_eq!(
        read("1639584311 7.696408 0\n1639584312 12.5 0\n", &[("rate", "2"), ("rate_unit", "Mbps")]),
        two()
    );
    assert_eq!(read("elapsed_s tput_mbps loss\n0 7.696408 0\n1 12.5 1\n", &[]), two());
}

#[test]
fn columns_and_units_may_be_told() {
    let gophers = "seq_num,Verizon_throughput_mbps,ATT_throughput_mbps\n1,7.696408,3\n2,12.5,4\n";
    assert_eq!(read(gophers, &[("time", "seq_num"), ("rate", "verizon_throughput_mbps")]), two());
    let (_, remarks) = told(gophers, &[("time", "1"), ("rate", "2")]);
    assert_eq!(
        remarks,
        [
            "the times are read as seconds; time_unit says another unit",
            "the times begin at 1 s; the first one is taken from all"
        ]
    );
    assert_eq!(
        refused(gophers, &[]),
        "t.csv, line 1: more than one column could be the rate; say which (rate_column), as in tidegate traces info \
         t.csv --rate-column Verizon_throughput_mbps"
    );
    let runs = "run_num,seq_num,Throughput\n1,0,7.696408\n1,1,12.5\n2,0,4\n2,1,5\n";
    let one = [("time", "seq_num"), ("rate_unit", "Mbit/s"), ("only", "run_num=1")];
    assert_eq!(read(runs, &one), two());
    assert!(
        refused(runs, &one[..2]).starts_with("t.csv, line 4: read `2,0,4`: this row is earlier than the row")
    );
    let raca = "Timestamp,Speed,DL_bitrate,UL_bitrate,State\n2018.01.18_16.12.26,5,7696.408,80,D\n2018.01.18_16.12.27,5,12500,90,D\n";
    assert_eq!(read(raca, &[("rate", "DL_bitrate"), ("rate_unit", "kbit/s")]), two());
    assert_eq!(
        refused(raca, &[]),
        "t.csv, line 1: more than one column could be the rate, and none says its unit; say which, and its unit \
         (rate_column, rate_unit), as in tidegate traces info t.csv --rate-column DL_bitrate --rate-unit Mbit/s"
    );
    let american = refused("time,rate_mbps\n12/15/2021 16:05:11,5\n", &[]);
    assert!(
        american.contains("neither numbers nor dates of a known form; write dates as 2021-12-15"),
        "{american}"
    );
    let bare = refused("0,14,7\n1,26,0\n", &[]);
    assert!(bare.ends_with("t.csv --time-column 1 --rate-column 2 --rate-unit Mbit/s"), "{bare}");
    assert!(refused(raca, &[("rate", "downlink")]).contains("no column is called `downlink`"));
    // Bytes since the row before, with a time in milliseconds: logs of video in 3G networks.
    let log = "1639584311 0 59.9 10.7 0 0\n1639584312 1000 59.9 10.7 962051 1000\n1639584313 2000 59.9 10.7 1562500 1000\n";
    assert_eq!(
        read(log, &[("time", "2"), ("time_unit", "ms"), ("rate", "5"), ("rate_unit", "bytes")]),
        two()
    );
    assert_eq!(read("7.696408\n12.5\n", &[("step", "1000"), ("rate_unit", "Mbit/s")]), two());
}

#[test]
fn json_is_read_in_the_forms_of_players_and_emulators() {
    let sabre = r#"[ {"duration_ms": 1000, "bandwidth_kbps": 7696.408, "latency_ms": 100},
                     {"duration_ms": 1000, "bandwidth_kbps": 12500, "latency_ms": 100} ]"#;
    assert_eq!(read(sabre, &[]), two());
    let rows =
        r#"{"name": "x", "trace": [{"time_s": 0, "rate_mbps": 7.696408}, {"time_s": 1, "rate_mbps": 12.5}]}"#;
    assert_eq!(read(rows, &[]), two());
    assert_eq!(read(r#"{"time_s": [0, 1], "rate_mbps": [7.696408, 12.5]}"#, &[]), two());
    assert_eq!(read("[[0, 7.696408], [1, 12.5]]", &[("rate_unit", "Mbit/s")]), two());
    let monroe = "{\"Timestamp\": 1639584311.5, \"Speed\": 962051.0, \"Host\": \"a\"}\n{\"Timestamp\": 1639584312.5, \"Speed\": 1562500, \"Host\": \"a\"}\n";
    assert_eq!(read(monroe, &[("rate", "Speed"), ("rate_unit", "bytes/s")]), two());
    let wrong = refused(
        r#"[{"duration_ms": 1000, "bandwidth_kbps": 1}, {"duration_ms": -1, "bandwidth_kbps": 1}]"#,
        &[],
    );
    assert!(wrong.starts_with("t.csv: read `1,-1`: item 2: the duration is below 0"), "{wrong}");
}

#[test]
fn rattans_json_is_read() {
    for text in [
        r#"{"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{"bw":"7Mbps 696408bps","duration":"1s"}},
            {"TraceBwConfig":[["500ms",["12.5Mbps","12.5Mbps"]]]}],"count":0}}"#,
        r#"{"RepeatedBwPatternConfig":{"pattern":[
            {"FixedBwConfig":{"bw":{"gbps":0,"bps":7696408},"duration":{"secs":1,"nanos":0}}},
            {"StaticBwConfig":{"bw":{"bps":12500000},"duration":{"secs":1,"nanos":0}}}],"count":2}}"#,
    ] {
        let (trace, _) = told(text, &[]);
        let rate = |at: u64| points(&trace).iter().rev().find(|(from, _)| *from <= at).map(|(_, rate)| *rate);
        assert_eq!((rate(0), rate(1000), rate(1999)), (Some(7_696_408), Some(12_500_000), Some(12_500_000)));
        assert_eq!(trace.period, Span::from_secs(2));
    }
    let random = refused(r#"{"NormalizedBwConfig":{"mean":"12Mbps"}}"#, &[]);
    assert!(random.contains("a model of netem-trace that is no list of rates"), "{random}");
    assert!(
        refused(r#"{"StaticBwConfig":{"bw":"fast","duration":"1s"}}"#, &[])
            .contains("a bandwidth is not understood")
    );
}

#[test]
fn rows_of_one_time_share_it_and_gaps_are_told() {
    let seconds = "time,rate_mbps\n16:05:11,1\n16:05:11,2\n16:05:12,3\n16:05:13,4\n";
    let (trace, remarks) = told(seconds, &[]);
    assert_eq!(points(&trace), [(0, 1_000_000), (500, 2_000_000), (1000, 3_000_000), (2000, 4_000_000)]);
    assert_eq!(
        remarks,
        ["1 row has the time of the row before: rows of one time share the time until the next one evenly"]
    );
    let (gap, said) = told("time_s,rate_mbps\n0,1\n1,2\n2,nan\n3,3\n4,4\n65,5\n66,-\n", &[]);
    assert_eq!(points(&gap).len(), 5);
    assert_eq!(gap.period, Span::from_secs(66));
    assert_eq!(
        said,
        [
            "1 row has no rate: the rate before holds",
            "a row is 61 s after the one before it, and rows are usually 1 s apart: the rate before a gap holds through it"
        ]
    );
    assert!(refused("time_s,rate_mbps\n0,1\n0,2\n", &[]).contains("all rows have one time"));
    let zones = refused("time,rate_mbps\n2021-10-31 02:59:59 CEST,1\n2021-10-31 02:00:00 CET,2\n", &[]);
    assert!(zones.contains("the time zone is not that of the rows before"), "{zones}");
    let unit = refused("time_s,rate_mbps\n1639584311000,1\n", &[]);
    assert!(unit.contains("after the year 5000"), "{unit}");
}

#[test]
fn what_names_columns_stays_with_who_chose_the_file() {
    let error = parse_with_remarks(b"a_mbps,b_mbps\n1,2\n", "t.csv", None, &TraceOptions::default());
    let error = error.expect_err("two rates");
    assert!(error.to_string().ends_with("--rate-column a_mbps"), "{error}");
    assert!(!error.without_content().to_string().contains("a_mbps"));
    assert_eq!(TraceOptions::default().columns, ColumnOptions::default());
}
