// Code and tables that are wider than their place scroll sideways. The keyboard reaches those that do (WCAG 2.1.1),
// and does not stop at the others.
document.addEventListener("DOMContentLoaded", () => {
  const mark = (box) => {
    if (box.scrollWidth > box.clientWidth) {
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", box.matches("pre") ? "Code" : "Table");
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  };
  const watch = new ResizeObserver((seen) => seen.forEach(({ target }) => mark(target)));
  document.querySelectorAll("article pre, article .table-wrapper").forEach((box) => watch.observe(box));
});
