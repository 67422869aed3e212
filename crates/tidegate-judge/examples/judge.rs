//! Our TCP over the links that people test with: give [`judge`] the ends of your transport in place of it.
//! `cargo run --release -p tidegate-judge --example judge [LINK ...]`; status 1 where a rule fails, 3 where one is undecided.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use std::error::Error;
use std::process::ExitCode;

use tidegate_judge::{Asked, Verdict, judge};
use tidegate_sim::host::Tcp;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let links: Vec<String> = std::env::args().skip(1).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let asked = Asked { links: &links, ..Asked::default() };
    let judged = judge(&asked, &mut |plan, flow| Tcp::ends(plan, flow).expect("no requests"))?;
    for Verdict { link, bound, measured, holds } in &judged.verdicts {
        let word = holds.map_or("undecided", |holds| if holds { "holds" } else { "fails" });
        println!("{word:<10} {link:<13} {bound:<40} {measured:.4?}");
    }
    Ok(ExitCode::from(judged.status()))
}
