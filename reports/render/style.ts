// The one style of a report's page: light or dark as the reader's system is, and pages of paper that cut no row and repeat the headings.
const screen = [
  ":root{--ink:#1a1d21;--soft:#5a626d;--line:#d5dae1;--page:#fff;--a:#1f5fa8;--b:#b0521a;--c:#2b7a4b;--d:#7a3f9d;--bad:#b3261e;color-scheme:light dark}",
  "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#a3acb8;--line:#3a424d;--page:#14171b;--a:#79b3f2;--b:#f0a46f;--c:#7cc99a;--d:#c79be0;--bad:#ff8a80}}",
  "body{margin:0 auto;max-width:62rem;padding:1rem;color:var(--ink);background:var(--page);font:14px/1.45 system-ui,sans-serif}",
  "h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:1.6rem 0 .4rem;border-bottom:1px solid var(--line)}",
  "table{border-collapse:collapse;width:100%;font-size:12px}caption{text-align:left;color:var(--soft);padding:.3rem 0}",
  "th,td{border-bottom:1px solid var(--line);padding:.2rem .45rem;text-align:left;vertical-align:top;font-weight:400}thead th{font-weight:600}",
  ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.notes{min-width:4.5rem}code{font-size:11px;overflow-wrap:anywhere}.wide{overflow-x:auto}",
  "figure{margin:.6rem 0}figcaption{color:var(--soft)}svg{width:100%;height:auto}svg text{fill:var(--soft);font:11px system-ui,sans-serif}",
  "svg .grid{stroke:var(--line)}svg .zero{stroke:var(--soft)}svg path{fill:none;stroke-width:1.6;stroke-linecap:round}",
  "svg .s0{stroke:var(--a)}svg .s1{stroke:var(--b)}svg .s2{stroke:var(--c)}svg .s3{stroke:var(--d)}svg .t0{fill:var(--a)}svg .t1{fill:var(--b)}svg .t2{fill:var(--c)}svg .t3{fill:var(--d)}",
  ".stamp{font-weight:700;letter-spacing:.2em;text-align:center;border:2px solid var(--soft);margin:.2rem 0;padding:.15rem}.broken{color:var(--bad);border-color:var(--bad)}",
  "footer{color:var(--soft);border-top:1px solid var(--line);margin-top:2rem}",
  "@media print{:root{--ink:#000;--soft:#444;--line:#bbb;--page:#fff;--a:#1f5fa8;--b:#b0521a;--c:#2b7a4b;--d:#7a3f9d;--bad:#b3261e}body{max-width:none;padding:0}thead{display:table-header-group}tr,figure,svg{break-inside:avoid}h2{break-after:avoid}details{display:none}.wide{overflow:visible}}",
].join("\n");

/** On every page of paper, in its margins: an element that is fixed on paper would lie over the figures. */
const inMargins = ({ title, paper, broken }: Printed): string =>
  [
    "@page{size:A4;margin:16mm 12mm 14mm;font:9px system-ui,sans-serif",
    `@top-left{content:${quoted(title)}}`,
    `@top-right{content:${quoted(paper ? "PAPER" : "")};font-weight:700}`,
    `@bottom-left{content:${quoted(broken ? "DOES NOT RECONCILE" : "")};font-weight:700;color:#b3261e}`,
    '@bottom-right{content:"Page " counter(page) " of " counter(pages)}}',
  ].join(";");

/** Whatever is no plain letter is written by its number: a text ends neither its string nor the style. */
const quoted = (text: string): string =>
  `"${text.replace(/[^A-Za-z0-9 ,.:-]/gu, (each) => `\\${(each.codePointAt(0) ?? 0).toString(16)} `)}"`;

interface Printed {
  readonly title: string;
  readonly paper: boolean;
  readonly broken: boolean;
}

export const style = (printed: Printed): string => [screen, inMargins(printed)].join("\n");
