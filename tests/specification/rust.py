"""Edits of Rust source that are chosen when a program starts: all of them stand in one build.

``a < b`` becomes ``(crate::edited(7) ^ (a < b))``: with edit 7 chosen the comparison is turned round, else
all is as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter
import tree_sitter_rust

_LANGUAGE = tree_sitter.Language(tree_sitter_rust.language())
_PARSER = tree_sitter.Parser(_LANGUAGE)
Node = tree_sitter.Node

_COMPARES = {"<", "<=", ">", ">=", "==", "!=", "&&", "||"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "<<": ">>", ">>": "<<"}
_METHODS = {"min": "max", "max": "min"}
#: Where numbers and constants of a rule stand.
_OPERANDS = {
    "binary_expression",
    "arguments",
    "compound_assignment_expr",
    "assignment_expression",
    "field_initializer",
}
#: What a function may return at once instead of its own result, by the type that it returns.
_RESULTS = {
    "bool": ("true", "false"),
    **dict.fromkeys(("u8", "u16", "u32", "u64", "u128", "usize", "i64", "i128"), ("0",)),
}
#: Nothing in these is run when the program runs, or an edit there is no edit of a rule.
_SKIPPED = {
    "const_item", "static_item", "attribute_item", "inner_attribute_item", "macro_invocation",
    "macro_definition",
    "enum_variant", "type_arguments", "array_type", "const_block", "let_chain", "type_item",
}  # fmt: skip

#: The function that every edit asks, at the end of each crate's root: EDIT is the number of the edit that is
#: chosen, EDITS_REACHED names a file that gets the number of each edit that a run reaches.
ASKED = """
#[doc(hidden)]
#[allow(clippy::all)]
pub fn edited(number: usize) -> bool {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static CHOSEN: OnceLock<usize> = OnceLock::new();
    static FILE: OnceLock<Option<String>> = OnceLock::new();
    static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    let number_of = |text: String| text.parse().ok();
    let chosen = *CHOSEN.get_or_init(|| std::env::var("EDIT").ok().and_then(number_of).unwrap_or(usize::MAX));
    if chosen == usize::MAX && !REACHED[number].swap(true, Ordering::Relaxed) {
        if let Some(path) = FILE.get_or_init(|| std::env::var("EDITS_REACHED").ok()) {
            use std::io::Write;
            if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
                let _ = file.write_all(format!("{number}\\n").as_bytes());
            }
        }
    }
    chosen == number
}
"""


@dataclass(frozen=True)
class Edit:
    """One edit: where it stands in the source, what it puts before and after, what it does in words."""

    start: int
    end: int
    before: str
    after: str
    what: str


def parsed(source: bytes) -> Node:
    """Return the root of the syntax tree of a file."""
    return _PARSER.parse(source).root_node


def edits(source: bytes, root: Node) -> list[Edit]:
    """Return the edits of a file; ``NUMBER`` stands for the number that each will get."""
    return [edit for node in walk(root) for edit in _of(source, node)]


def walk(node: Node) -> Iterator[Node]:
    """Yield the nodes below one, but for tests, constants and what no run reaches."""
    if node.type in _SKIPPED or _is_const(node) or _is_test(node):
        return
    yield node
    for child in node.children:
        yield from walk(child)


def _is_const(node: Node) -> bool:
    return node.type == "function_item" and any(
        child.type == "function_modifiers" and b"const" in (child.text or b"") for child in node.children
    )


def _is_test(node: Node) -> bool:
    before = node.prev_sibling
    return (
        node.type in ("mod_item", "function_item")
        and before is not None
        and before.type == "attribute_item"
        and (b"test" in (before.text or b""))
    )


def _of(source: bytes, node: Node) -> Iterator[Edit]:
    def text(part: Node | None) -> str:
        return "" if part is None else source[part.start_byte : part.end_byte].decode()

    def around(before: str, after: str, what: str) -> Edit:
        return Edit(node.start_byte, node.end_byte, before, after, what)

    if node.type == "binary_expression":
        operator = text(node.child_by_field_name("operator"))
        if operator in _COMPARES and not _has_let(node):
            yield around("(crate::edited(NUMBER) ^ (", "))", f"turned round: {text(node)}")
        elif operator in _ARITHMETIC:
            left, right = (text(node.child_by_field_name(side)) for side in ("left", "right"))
            other = f"{left} {_ARITHMETIC[operator]} {right}"
            yield around(
                f"(if crate::edited(NUMBER) {{ {other} }} else {{ ",
                " })",
                f"{operator} is another: {text(node)}",
            )
    elif node.type == "expression_statement" and _may_be_left_out(node):
        yield around("if !crate::edited(NUMBER) { ", " }", f"left out: {text(node)}")
    elif node.type == "call_expression":
        called = node.child_by_field_name("function")
        name = (
            called.child_by_field_name("field")
            if called is not None and called.type == "field_expression"
            else None
        )
        if called is not None and name is not None and text(name) in _METHODS:
            other = (
                source[node.start_byte : name.start_byte].decode()
                + _METHODS[text(name)]
                + source[name.end_byte : node.end_byte].decode()
            )
            yield around(
                f"(if crate::edited(NUMBER) {{ {other} }} else {{ ",
                " })",
                f"the other of min and max: {text(node)}",
            )
    elif node.type in ("if_expression", "while_expression"):
        condition = node.child_by_field_name("condition")
        if condition is not None and condition.type in (
            "call_expression",
            "identifier",
            "field_expression",
            "unary_expression",
        ):
            yield Edit(
                condition.start_byte,
                condition.end_byte,
                "(crate::edited(NUMBER) ^ ",
                ")",
                f"turned round: {text(condition)}",
            )
    elif node.type == "function_item":
        yield from _results(node, text)
    elif node.parent is not None and node.parent.type in _OPERANDS:
        if node.type == "integer_literal" and text(node).replace("_", "").isdigit():
            other = str(int(text(node).replace("_", "")) + 1)
            yield around(
                f"(if crate::edited(NUMBER) {{ {other} }} else {{ ", " })", f"{other} for {text(node)}"
            )
        elif node.type == "identifier" and len(text(node)) > 1 and text(node).isupper():
            yield around(
                f"(if crate::edited(NUMBER) {{ {text(node)} + {text(node)} }} else {{ ",
                " })",
                f"twice {text(node)}",
            )


def _has_let(node: Node) -> bool:
    return any(child.type in ("let_condition", "let_chain") or _has_let(child) for child in node.children)


def _may_be_left_out(node: Node) -> bool:
    inner = node.children[0]
    return (
        inner.type in ("assignment_expression", "compound_assignment_expr", "call_expression")
        and node.children[-1].type == ";"
    )


def _results(node: Node, text: object) -> Iterator[Edit]:
    body, result = node.child_by_field_name("body"), node.child_by_field_name("return_type")
    if body is None or not callable(text):
        return
    kind = text(result)
    values = ("",) if result is None else _RESULTS.get(kind, ("None",) if kind.startswith("Option<") else ())
    at = body.start_byte + 1
    name = text(node.child_by_field_name("name"))
    for value in values:
        yield Edit(
            at,
            at,
            f" if crate::edited(NUMBER) {{ return {value}; }} ",
            "",
            f"{name} returns {value or 'at once'}",
        )


def instrumented(source: bytes, numbered: list[tuple[int, Edit]]) -> tuple[bytes, dict[int, tuple[int, int]]]:
    """Return the source with its edits, and where each edit stands in it."""
    marks: list[tuple[int, int, int, str, int]] = []
    for number, edit in numbered:
        length = edit.end - edit.start
        # At one place what ends comes first, the innermost first; then what begins, the outermost first.
        marks.append((edit.start, 1, -length, edit.before.replace("NUMBER", str(number)), number))
        if edit.after:
            marks.append((edit.end, 0, length, edit.after, number))
    out, at = bytearray(), 0
    where: dict[int, tuple[int, int]] = {}
    for place, _, _, inserted, number in sorted(marks, key=lambda mark: mark[:3]):
        out += source[at:place]
        at = place
        begin = where[number][0] if number in where else len(out)
        out += inserted.encode()
        where[number] = (begin, len(out))
    out += source[at:]
    return bytes(out), where
