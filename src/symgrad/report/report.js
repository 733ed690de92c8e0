// Shows one formula at a time: the chosen one first, then what is picked in the chart or the list.
(() => {
  "use strict";
  const all = (selector) => [...document.querySelectorAll(selector)];
  const points = all("a.point");
  const rows = all("#list tr[data-formula]");
  const panels = all(".formula");
  const drawings = all(".drawing");

  function select(k, focus) {
    points.forEach((point, i) => {
      point.setAttribute("aria-checked", String(i === k));
      point.setAttribute("tabindex", i === k ? "0" : "-1");
    });
    rows.forEach((row, i) => row.classList.toggle("picked", i === k));
    for (const parts of [panels, drawings]) {
      parts.forEach((part, i) => { part.hidden = i !== k; });
    }
    const list = rows[k].closest(".list");
    const above = rows[k].offsetTop - list.clientHeight / 2;
    list.scrollTop = Math.max(0, above);
    if (focus) points[k].focus({ preventScroll: true });
  }

  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  points.forEach((point, k) => {
    point.addEventListener("click", (event) => {
      event.preventDefault();
      select(k, true);
    });
    point.addEventListener("keydown", (event) => {
      if (event.key === " ") {
        event.preventDefault();
        select(k, true);
      }
      if (!(event.key in steps)) return;
      event.preventDefault();
      select(Math.min(points.length - 1, Math.max(0, k + steps[event.key])), true);
    });
  });
  rows.forEach((row, k) => row.addEventListener("click", () => select(k, false)));

  if (!("MathMLElement" in window)) document.body.classList.add("no-mathml");
  select(points.findIndex((point) => point.classList.contains("chosen")), false);
})();
