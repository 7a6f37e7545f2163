/// The style sheet and the script of pages.
enum ReportStyle {
    /// CSS for wide and narrow screens, light and dark colours, and paper.
    static let sheet = """
        :root { color-scheme: light dark; --text: #1b1f24; --page: #ffffff; --faint: #59636e; --rule: #d0d7de;
          --raised: #f6f8fa; --good: #18692e; --warning: #8a5200; --bad: #b3261e;
          --served: #cfe3ff; --users: #a9c8a4; --out: #d1453b; --stripe: #ffd9d5;
          --certificates: #2f6fb7; --pins: #b7702f }
        @media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --page: #14181d; --faint: #9aa4ae;
          --rule: #3a424b; --raised: #1c2229; --good: #7cc990; --warning: #e2b15f; --bad: #f2948d;
          --served: #24476f; --users: #3f6b45; --out: #e0574d; --stripe: #6e1f1a;
          --certificates: #79aee6; --pins: #e6a879 } }
        * { box-sizing: border-box }
        body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
          max-width: 62rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word }
        body.wide { max-width: 84rem }
        a { color: var(--certificates) }
        header { border-left: .4rem solid var(--rule); padding: .1rem 0 .1rem .9rem; margin-bottom: 1.5rem }
        header p { margin: .25rem 0 } header .kind { color: var(--faint); font-size: .85rem }
        header.good { border-color: var(--good) } header.warning { border-color: var(--warning) }
        header.bad { border-color: var(--bad) }
        h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem } header.bad h1 { color: var(--bad) }
        h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem }
        p, ul, ol { max-width: 62rem } li { margin-bottom: .4rem }
        code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere }
        .good { color: var(--good) } .warning { color: var(--warning) } .bad { color: var(--bad); font-weight: 600 }
        header.good, header.warning, header.bad { color: inherit; font-weight: inherit }
        small, figcaption, footer { color: var(--faint); font-size: .85rem }
        footer { margin-top: 2.5rem; border-top: 1px solid var(--rule) }
        .figures { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0 }
        .figures div { background: var(--raised); border: 1px solid var(--rule); border-radius: 6px;
          padding: .3rem .9rem } .figures b { font-size: 1.4rem }
        .fact { display: grid; grid-template-columns: 6rem 1fr; gap: 0 1rem; margin: .3rem 0 }
        .fact span:first-child { color: var(--faint) }
        figure { margin: 0; overflow-x: auto } svg { display: block; width: 100%; min-width: 46rem; height: auto }
        text { font: 12px system-ui, sans-serif; fill: var(--text) } .month-name { fill: var(--faint) }
        .base, .month { stroke: var(--rule) } .end { text-anchor: end }
        .key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em }
        .key:first-child { margin-left: 0 }
        .certificates { fill: var(--certificates) } .pins { fill: var(--pins) } .axis { stroke: var(--faint) }
        .key.certificates { background: var(--certificates) } .key.pins { background: var(--pins) }
        .served { fill: var(--served); stroke: var(--rule) } .users { fill: var(--users) }
        .mark { stroke: var(--faint) } .out { fill: var(--out) }
        .stripe { stroke: var(--stripe); stroke-width: 3 } .outline { stroke: var(--out) }
        .from { stroke: var(--out); stroke-width: 1.5; stroke-dasharray: 4 3 }
        .from-day { fill: var(--bad); font-weight: 600 }
        .label { fill: var(--faint) }
        table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums }
        th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--rule) }
        th { color: var(--faint); font-weight: 600; background: var(--page); position: sticky; top: 0 }
        td.number, th.number { text-align: right }
        th button { all: unset; cursor: pointer } th button:focus-visible { outline: 2px solid }
        th[aria-sort=ascending] button::after { content: " \\2191" }
        th[aria-sort=descending] button::after { content: " \\2193" }
        @media screen and (max-width: 48rem) { body { margin-top: 1rem }
          figure::before { content: "Scroll sideways to see all of it."; color: var(--faint); font-size: .85rem;
            position: sticky; left: 0 } }
        @media print {
          body, body.wide { max-width: none; margin: 0; font-size: 10pt }
          th { position: static } h2 { break-after: avoid } tr, li, figure, header { break-inside: avoid }
          table { font-size: 8pt } td { overflow-wrap: anywhere }
          svg { min-width: 0 } figure { overflow: visible } svg, .key { print-color-adjust: exact }
        }
        """

    /// A script that sorts the first sortable table of a page. Without scripts the rows keep their order.
    static let sorting = """

        "use strict";
        const table = document.querySelector("table.sortable"), body = table.tBodies[0];
        const text = (row, column) => {
          const cell = row.cells[column];
          return cell.dataset.sort ?? cell.textContent;
        };
        const order = new Intl.Collator("en", { numeric: true });
        const isNumber = text => text !== "" && Number.isFinite(Number(text));
        const compare = (a, b) => isNumber(a) && isNumber(b) ? a - b : order.compare(a, b);
        [...table.tHead.rows[0].cells].forEach((head, column) => {
          const button = document.createElement("button");
          button.type = "button";
          button.textContent = head.textContent;
          head.replaceChildren(button);
          button.addEventListener("click", () => {
            const descends = head.getAttribute("aria-sort") === "ascending";
            for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
            head.setAttribute("aria-sort", descends ? "descending" : "ascending");
            const rows = [...body.rows].map(row => [text(row, column), row]);
            rows.sort((a, b) => (descends ? -1 : 1) * compare(a[0], b[0]));
            body.append(...rows.map(pair => pair[1]));
          });
        });

        """
}
