/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of the reports' pages: rows are sorted by a click on a heading; hints that something scrolls go where it does not.
   Without it the page shows the same. No less-than sign and no ampersand: nothing in it looks like markup. */
(function () {
    "use strict";
    function key(row, column) {
        var text = (row.cells[column] || { textContent: "" }).textContent.trim();
        var number = parseFloat(text.replace(/\s.*$/, "").replace(/^([0-9A-F]+)H$/, function (all, hex) {
            return parseInt(hex, 16);
        }));
        return { text: text, number: /^[-+.0-9]/.test(text) ? number : NaN, absent: text === "\u2013" };
    }
    function compare(a, b) {
        if (a.absent || b.absent)
            return a.absent === b.absent ? 0 : a.absent ? 2 : -2; /* dashes stay below */
        if (!(isNaN(a.number - b.number) || a.number === b.number))
            return a.number > b.number ? 1 : -1;
        return a.text === b.text ? 0 : a.text > b.text ? 1 : -1;
    }
    function sort(table, heading) {
        var column = heading.cellIndex, down = heading.getAttribute("aria-sort") === "ascending";
        var bodies = Array.from(table.tBodies), counts = bodies.map(function (body) { return body.rows.length; });
        var rows = [].concat.apply([], bodies.map(function (body) { return Array.from(body.rows); }));
        rows = rows.map(function (row) { return { row: row, key: key(row, column) }; });
        rows.sort(function (a, b) {
            var order = compare(a.key, b.key);
            return Math.abs(order) === 2 || !down ? order : -order;
        });
        bodies.forEach(function (body, i) {
            rows.splice(0, counts[i]).forEach(function (item) { body.appendChild(item.row); });
        });
        Array.from(heading.parentNode.cells).forEach(function (cell) { cell.removeAttribute("aria-sort"); });
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    }
    document.querySelectorAll("thead th").forEach(function (heading) {
        heading.tabIndex = 0;
        heading.classList.add("sorts");
        heading.addEventListener("click", function () { sort(heading.closest("table"), heading); });
        heading.addEventListener("keydown", function (event) {
            if (event.key === "Enter" || event.key === " ") {
                event.preventDefault();
                sort(heading.closest("table"), heading);
            }
        });
    });
    document.body.classList.add("scripted");
    function hints() {
        document.querySelectorAll(".scroll").forEach(function (box) {
            var hint = box.nextElementSibling;
            if (hint ? hint.classList.contains("hint") : false)
                hint.classList.toggle("needed", box.scrollWidth > box.clientWidth + 1);
        });
    }
    hints();
    window.addEventListener("resize", hints);
    document.addEventListener("toggle", hints, true);
})();
