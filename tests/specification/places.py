"""Where the items and the comments of a Rust file stand, and which code a comment is about."""

from __future__ import annotations

from collections.abc import Iterator

from specification.rust import Node, walk


def items(root: Node) -> dict[str, list[tuple[int, int]]]:
    """Return where the functions, types and implementations of a file stand, by name."""
    found: dict[str, list[tuple[int, int]]] = {}
    for node in walk(root):
        name = node.child_by_field_name("type" if node.type == "impl_item" else "name")
        if name is not None and node.type in (
            "function_item",
            "struct_item",
            "enum_item",
            "impl_item",
            "trait_item",
        ):
            word = (name.text or b"").decode().split("<")[0]
            found.setdefault(word, []).append((node.start_byte, node.end_byte))
    return found


def comments(source: bytes, root: Node) -> list[tuple[str, int, int]]:
    """Return each comment and the code that it is about: what follows it; of one at the head, the file."""
    found: list[tuple[str, int, int]] = []
    done = 0
    for node in _comment_nodes(root):
        if node.start_byte < done:
            continue
        words, last = [], node
        while True:
            words.append(source[last.start_byte : last.end_byte].decode().lstrip("/!").strip())
            done = last.end_byte
            follower = last.next_sibling
            if follower is None or follower.type != "line_comment":
                break
            last = follower
        if source[node.start_byte : node.start_byte + 3] == b"//!":
            found.append((" ".join(words), 0, len(source)))
            continue
        while follower is not None and follower.type == "attribute_item":
            follower = follower.next_sibling
        about = follower if follower is not None and follower.is_named else node.parent
        if about is not None:
            found += [(" ".join(words), begin, end) for begin, end in _meant(root, about)]
    return found


#: What holds no steps of its own: the steps are where its name is used.
_NAMED = {
    "const_item",
    "static_item",
    "field_declaration",
    "enum_variant",
    "parameter",
    "struct_item",
    "enum_item",
}


def _meant(root: Node, about: Node) -> list[tuple[int, int]]:
    """Return the steps that a comment is about: what follows it, or each step with the name of that."""
    name = about.child_by_field_name("name") if about.type in _NAMED else None
    if name is None:
        return [(about.start_byte, about.end_byte)]
    if about.type in ("struct_item", "enum_item"):
        return items(root).get((name.text or b"").decode(), [])
    users = [node for node in walk(root) if node.type in _USES and node.text == name.text]
    return [(step.start_byte, step.end_byte) for node in users if (step := _step(node)) is not None]


#: How a name is used.
_USES = {"identifier", "field_identifier", "type_identifier", "shorthand_field_identifier"}
#: The smallest pieces of a program that are a step.
_STEPS = {
    "let_declaration",
    "expression_statement",
    "match_arm",
    "binary_expression",
    "if_expression",
    "call_expression",
    "function_item",
}


def _step(node: Node) -> Node | None:
    found: Node | None = node
    while found is not None and found.type not in _STEPS:
        found = found.parent
    return found


def around(root: Node, byte: int) -> tuple[int, int]:
    """Return the function around a byte, or the type or implementation, or the file."""
    found = root.descendant_for_byte_range(byte, byte) or root
    while found.parent is not None and found.type not in ("function_item", "impl_item", "trait_item"):
        found = found.parent
    return found.start_byte, found.end_byte


def _comment_nodes(node: Node) -> Iterator[Node]:
    if node.type == "line_comment":
        yield node
    for child in node.children:
        yield from _comment_nodes(child)
