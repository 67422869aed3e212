//! Files as people have them: spreadsheets of other countries, logs, floating-point numbers, JSON.

use tidegate_core::units::Span;

use super::readers::{points, rates};
use crate::trace::{Format, LoadedTrace, Remarked, TraceOptions, parse_with_remarks};

fn read(text: &str) -> Remarked {
    parse_with_remarks(text.as_bytes(), "t.csv", None, &TraceOptions::default()).expect("a trace")
}

fn refused(text: &str) -> String {
    let read = parse_with_remarks(text.as_bytes(), "t.csv", None, &TraceOptions::default());
    read.expect_err("no trace").to_string()
}

#[test]
fn a_row_has_as_many_fields_as_the_header() {
    let commas = "if a number has a decimal comma, write a point, as in 0,14.7, or put semicolons between the columns; \
                  otherwise name every column in the header";
    assert_eq!(
        refused("time_s,rate_mbps\n0,14,7\n1,26,0\n"),
        format!("t.csv, line 2: read `0,14,7`: 3 fields under a header of 2; {commas}")
    );
    assert_eq!(
        refused("time_s,rate_mbps,loss\n0,10,0\n1,20\n"),
        "t.csv, line 3: read `1,20`: 2 fields under a header of 3; write a comma for each column, also where its value \
         is not known"
    );
    // Empty fields at the end of a row or of the header, and a last row with its time alone.
    for text in [
        "time_s,rate_mbps\n0,12,\n0.5,3.2,,\n2,,\n",
        "time_s,rate_mbps,\n0,12\n0.5,3.2\n2,\n",
        "time_s,rate_mbps,loss\n0,12,1\n0.5,3.2,\n2,\n",
    ] {
        assert_eq!(points(&rates(text, Format::Csv)), [(0, 12_000_000), (500, 3_200_000)], "{text}");
    }
}

#[test]
fn the_unit_of_each_column_is_told() {
    assert_eq!(
        refused("time,rate\n0,10\n1,20\n"),
        "t.csv, line 1: the column `rate` does not say its unit; call it rate_bps, rate_kbps, rate_mbps or rate_gbps, \
         or give the unit (rate_unit), as in tidegate traces info t.csv --rate-unit Mbit/s"
    );
    assert_eq!(
        refused("time,rate_mbps\n0,10\n1,20\n"),
        "t.csv, line 1: the column `time` does not say its unit; call it time_s, time_ms or time_us, or give the unit \
         (time_unit), as in tidegate traces info t.csv --time-unit s"
    );
    assert_eq!(
        refused("time_s,Rate\n0,10\n1,20\n"),
        "t.csv, line 1: the column `rate` does not say its unit; call it rate_bps, rate_kbps, rate_mbps or rate_gbps, \
         or give the unit (rate_unit), as in tidegate traces info t.csv --rate-unit Mbit/s"
    );
    // Another column may have any name.
    assert_eq!(read("time,time_s,rate_mbps\n7,0,1\n8,1,2\n").trace.period(), Span::from_secs(2));
}

#[test]
fn measured_numbers_are_rounded() {
    let text = "time_s,rate_mbps\n0,53.48353650061554\n0.1,0.30000000000000004\n0.30000000000000004,5e-7\n";
    let Remarked { trace: LoadedTrace::Rates(trace), .. } = read(text) else { panic!() };
    assert_eq!(points(&trace), [(0, 53_483_537), (100, 300_000), (300, 1)]);
    assert_eq!(
        points(&rates("# :recommended_frequency=10\n1.0005\n2\n", Format::Drp)),
        [(0, 1001), (100, 2000)]
    );
}

#[test]
fn semicolons_and_tabs_separate_and_leave_the_comma_to_numbers() {
    for text in [
        "time_s;rate_mbps\n0;12\n0,5;3,2\n2;\n",
        "time_s\trate_mbps\n0\t12\n0.5\t3,2\n2\t\n",
        "time_s,rate_mbps\n0,12\n\"0,5\",\"3,2\"\n2,\n",
    ] {
        let read = read(text);
        let LoadedTrace::Rates(trace) = &read.trace else { panic!() };
        assert_eq!(points(trace), [(0, 12_000_000), (500, 3_200_000)], "{text}");
        assert!(read.remarks.is_empty(), "{:?}", read.remarks);
    }
    assert_eq!(
        refused("time_s;rate_kbps\n0;1,500\n1;2,250\n"),
        "t.csv, line 2: a comma with three digits behind it is a decimal comma or stands between thousands; write a \
         point, or no comma"
    );
    // Another number tells.
    let text = "time_s;rate_mbps\n0;12,500\n0,5;3,200\n2;\n";
    assert_eq!(points(&rates(text, Format::Csv)), [(0, 12_500_000), (500, 3_200_000)]);
}

#[test]
fn times_since_1970_are_counted_from_the_first() {
    for text in [
        "time_s,rate_mbps\n1681314020.25,147\n1681314021.25,260\n1681314022.25,267\n",
        "time_ms,rate_mbps\n1681314020250,147\n1681314021250,260\n1681314022250,267\n",
    ] {
        let read = read(text);
        let LoadedTrace::Rates(trace) = &read.trace else { panic!() };
        assert_eq!(points(trace), [(0, 147_000_000), (1000, 260_000_000), (2000, 267_000_000)], "{text}");
        assert_eq!(trace.period, Span::from_secs(3));
        assert_eq!(read.remarks, ["the times count from 1970; the first one is taken from all"]);
    }
    assert!(
        refused("time_s,rate_mbps\n1681314020,1\n1681314019,2\n").contains("is earlier than the row before")
    );
    assert!(refused("time_s,rate_mbps\n1681314020,1\n2681314019,2\n").contains("more than 106 days"));
}

#[test]
fn an_end_that_is_a_guess_is_told() {
    let even = "time_s,rate_mbps\n0,1\n1,2\n2,3\n";
    assert!(read(even).remarks.is_empty());
    let remarks = read("time_s,rate_mbps\n0,1\n1,2\n5,3\n").remarks;
    assert_eq!(remarks.len(), 1);
    assert!(
        remarks[0].starts_with("the file does not say when its last rate ends: it holds 4 s"),
        "{remarks:?}"
    );
    assert!(read("time_s,rate_mbps\n0,1\n1,2\n5,\n").remarks.is_empty());
}

/// What the message says to do gives a trace.
#[test]
fn rates_without_times_are_told_how_to_become_a_trace() {
    assert_eq!(
        refused("0.57,Mbits/sec\n1.06,Mbits/sec\n"),
        "t.csv, line 1: read `0.57`: rates without times; give how long each rate holds (step), or the column with the \
         times (time_column), as in tidegate traces info t.csv --step '1 s'"
    );
    let step = TraceOptions { step: Some(Span::from_secs(1)), ..TraceOptions::default() };
    let told = parse_with_remarks(b"0.57,Mbits/sec\n1.06,Mbits/sec\n900,Kbits/sec\n", "t.csv", None, &step);
    let Ok(Remarked { trace: LoadedTrace::Rates(trace), .. }) = told else { panic!() };
    assert_eq!(points(&trace), [(0, 570_000), (1000, 1_060_000), (2000, 900_000)]);
    assert_eq!(trace.period, Span::from_secs(3));
    let done = read("time_s,rate_mbps,unit\n0,0.57,Mbits/sec\n1,1.06,Mbits/sec\n");
    let LoadedTrace::Rates(named) = &done.trace else { panic!() };
    assert_eq!(points(named), [(0, 570_000), (1000, 1_060_000)]);
}

#[test]
fn a_step_is_for_rates_without_times() {
    let step = TraceOptions { step: Some(Span::from_secs(1)), ..TraceOptions::default() };
    let said = |text: &str, name: &str, format| {
        parse_with_remarks(text.as_bytes(), name, format, &step).expect_err("refused").to_string()
    };
    let times = "a step says how long each rate holds, and this table has times";
    assert!(said("time_s,rate_mbps\n0,1\n1,2\n", "t.csv", None).contains(times));
    let format = |name: &str| format!("a trace of the format {name} says that itself");
    assert!(said("1\n2\n", "t.down", None).contains(&format("mahimahi")));
    assert!(said("0 1\n1 2\n", "t", Some(Format::SecondsMbps)).contains(&format("seconds-mbps")));
}

#[test]
fn other_files_are_called_what_they_are() {
    let json = refused("{\"a\": 1,\n");
    assert!(json.starts_with("t.csv: this begins as JSON and is none from line 2, column 0 on; "), "{json}");
    let empty = refused("{\"intervals\": [], \"error\": \"busy\"}");
    assert!(empty.starts_with("t.csv: this JSON holds no list of times and rates; "), "{empty}");
    let text = refused("Connecting to host 10.0.0.1\n");
    assert!(text.starts_with("t.csv, line 1: this begins like no trace; write time_s,rate_mbps"), "{text}");
}
