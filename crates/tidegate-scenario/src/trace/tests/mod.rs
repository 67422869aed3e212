//! Tests of the traces by question: do readers refuse what they must, is capacity kept, do
//! the real traces come out as an independent count says.

mod capacity;
mod field;
mod readers;
mod real;
mod synthetic;
mod tables;
