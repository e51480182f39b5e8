// A document as one HTML file: charts as inline SVG with a table each, every figure with its formula, nothing to load, no script. It prints page by page
// with the headings of tables repeated, and says PAPER, and that something does not tie, on every page.
import { definitions, type MetricId } from "../definitions.ts";
import { type Block, type Chart, isReconciled, type Metric, type ReportDocument, type Table } from "../document.ts";
import { escaped, isolated } from "./escape.ts";
import { metricNotes, shownColumn, shownFigure, shownMoment, shownMoney } from "./numbers.ts";
import { style } from "./style.ts";
import { chartSvg } from "./svg.ts";

export function renderHtml(document: ReportDocument): string {
  const stamp = stampOf(document);
  const [paper, broken] = [document.mode === "PAPER", !isReconciled(document)];
  const title = `${document.title}, ${document.period.start} to ${document.period.end}`;
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    // Also for browsers that print a page's title and not what stands in its margins.
    `<title>${escaped(title)}${paper ? " (PAPER)" : ""}${broken ? " (DOES NOT RECONCILE)" : ""}</title>`,
    `<style>${style({ title, paper, broken })}</style>`,
    "</head>",
    "<body>",
    "<header>",
    ...stamp,
    `<h1>${escaped(document.title)}</h1>`,
    `<p>${document.period.start} to ${document.period.end}, ${escaped(document.currency)}, as of ${escaped(shownMoment(document.as_of))}; all times are UTC</p>`,
    "</header>",
    "<main>",
    ...document.sections.map((section) => sectionHtml(section, document)),
    reconciliation(document),
    notes(document),
    parameters(document),
    "</main>",
    `<footer><p>Facts <code>${document.facts_sha256}</code>; audit log up to ${document.audit_sequence ?? "no entry"}.</p></footer>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function stampOf(document: ReportDocument): readonly string[] {
  const paper = document.mode === "PAPER" ? ['<p class="stamp paper">PAPER</p>'] : [];
  if (isReconciled(document)) return paper;
  return [...paper, '<p class="stamp broken" role="alert">DOES NOT RECONCILE</p>'];
}

function sectionHtml({ id, title, blocks }: ReportDocument["sections"][number], document: ReportDocument): string {
  const parts = blocks.map((block) => blockHtml(block, document));
  return `<section id="${escaped(id)}"><h2>${escaped(title)}</h2>${parts.join("")}</section>`;
}

function blockHtml(block: Block, document: ReportDocument): string {
  switch (block.kind) {
    case "table":
      return tableHtml(block);
    case "chart":
      return chartHtml(block);
    case "text":
      return `<p>${isolated(block.text)}</p>`;
    case "metrics":
      return metricsHtml(
        document.metrics.filter(({ id }) => block.ids.includes(id)),
        document.currency,
      );
  }
}

function metricsHtml(metrics: readonly Metric[], currency: string): string {
  const rows = metrics.map((metric) => {
    const { name } = definitions[metric.id as MetricId];
    return `<tr><th scope="row">${escaped(name)}</th><td class="number">${escaped(shownFigure(metric, currency))}</td><td><code>${escaped(metric.definition)}</code></td><td class="notes">${escaped(metricNotes(metric))}</td></tr>`;
  });
  return wide(
    "Figures",
    `<thead><tr><th scope="col">Figure</th><th scope="col" class="number">Value</th><th scope="col">Definition</th><th scope="col">Made of</th></tr></thead><tbody>${rows.join("")}</tbody>`,
  );
}

/** A table that is wider than a small screen moves by itself, and with the keyboard. */
const wide = (title: string, content: string): string =>
  `<div class="wide" tabindex="0" role="region" aria-label="${escaped(title)}"><table><caption>${escaped(title)}</caption>${content}</table></div>`;

const isNumber = (kind: Table["columns"][number]["kind"]): boolean => kind !== "text" && kind !== "date";

function tableHtml({ title, columns, rows }: Table): string {
  const heads = columns.map(
    (column) => `<th scope="col"${isNumber(column.kind) ? ' class="number"' : ""}>${escaped(column.title)}</th>`,
  );
  const shown = columns.map(({ kind }, index) =>
    shownColumn(
      rows.map((row) => row[index] ?? null),
      kind,
    ),
  );
  const lines = rows.map((_row, at) => {
    const cells = columns.map((column, index) => {
      const cell = shown[index]?.[at] ?? "";
      const text = column.kind === "text" && cell !== "" ? isolated(cell) : escaped(cell);
      if (index === 0) return `<th scope="row"${isNumber(column.kind) ? ' class="number"' : ""}>${text}</th>`;
      return `<td${isNumber(column.kind) ? ' class="number"' : ""}>${text}</td>`;
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  const body =
    lines.length === 0 ? `<tr><td colspan="${columns.length}">None in this period.</td></tr>` : lines.join("");
  return wide(title, `<thead><tr>${heads.join("")}</tr></thead><tbody>${body}</tbody>`);
}

/** Every chart has the figures it draws beside it, folded. */
function chartHtml(chart: Chart): string {
  const kind = chart.unit === "fraction" ? "fraction" : chart.unit === "money" ? "money" : "number";
  const table: Table = {
    kind: "table",
    id: `${chart.id}_table`,
    title: chart.title,
    main: false,
    columns: [
      { id: "label", title: "Day", kind: "date" },
      ...chart.series.map(({ name }) => ({ id: name, title: name, kind: kind as "fraction" | "money" | "number" })),
    ],
    rows: chart.labels.map((label, index) => [label, ...chart.series.map(({ values }) => values[index] ?? null)]),
  };
  return `<figure><figcaption>${escaped(chart.title)}</figcaption>${chartSvg(chart)}<details><summary>The figures of this chart</summary>${tableHtml(table)}</details></figure>`;
}

function reconciliation({ reconciliation: lines }: ReportDocument): string {
  const rows = lines.map(({ name, left, right, difference }) => {
    const ties = Number(difference) === 0;
    return `<tr><th scope="row">${escaped(name)}</th><td class="number">${escaped(shownMoney(left))}</td><td class="number">${escaped(shownMoney(right))}</td><td class="number">${escaped(ties ? "0" : shownMoney(difference))}</td><td>${ties ? "ties" : "DOES NOT TIE"}</td></tr>`;
  });
  return `<section id="reconciliation"><h2>Reconciliation</h2>${wide("What must be equal", `<thead><tr><th scope="col">What</th><th scope="col" class="number">Left</th><th scope="col" class="number">Right</th><th scope="col" class="number">Difference</th><th scope="col">Result</th></tr></thead><tbody>${rows.join("")}</tbody>`)}</section>`;
}

function notes({ exclusions, data_quality }: ReportDocument): string {
  const items = [
    ...data_quality.map(({ what, detail }) => `<li><b>${isolated(what)}.</b> ${isolated(detail)}</li>`),
    ...exclusions.map(({ what, why, count }) => `<li><b>${isolated(what)} (${count}).</b> ${isolated(why)}</li>`),
  ];
  const list = items.length === 0 ? "<p>Nothing was left out.</p>" : `<ul>${items.join("")}</ul>`;
  return `<section id="data"><h2>Data and exclusions</h2>${list}</section>`;
}

function parameters({ parameters: given }: ReportDocument): string {
  const rows = Object.entries(given).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(", ") : String(value ?? "none");
    return `<tr><th scope="row">${escaped(name)}</th><td>${isolated(text)}</td></tr>`;
  });
  return `<section id="parameters"><h2>Parameters</h2>${wide("What was asked for", `<thead><tr><th scope="col">Parameter</th><th scope="col">Value</th></tr></thead><tbody>${rows.join("")}</tbody>`)}</section>`;
}
