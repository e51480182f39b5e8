// The style of the reference for people, served beside it: light and dark as the reader has it, narrow screens, print.
export const referenceStyle = `:root {
  color-scheme: light dark;
  --ink: #1b2430;
  --soft: #5a6675;
  --paper: #ffffff;
  --panel: #f4f6f8;
  --line: #dde3ea;
  --get: #1c6b48;
  --post: #7a4b00;
  --put: #4a3d9e;
  --delete: #a1262d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e9ef;
    --soft: #9aa7b6;
    --paper: #12171d;
    --panel: #1a212a;
    --line: #2c3641;
    --get: #6fcf9f;
    --post: #e8b765;
    --put: #a99cf5;
    --delete: #f08a8f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; display: flex; color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; flex: 0 0 15rem; padding: 1.5rem 1rem; background: var(--panel); border-right: 1px solid var(--line); }
nav .title { margin: 0 0 1rem; font-weight: 600; }
nav span { color: var(--soft); font-size: 0.85em; font-weight: 400; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { display: flex; justify-content: space-between; padding: 0.15rem 0; }
main { flex: 1; min-width: 0; max-width: 62rem; padding: 1.5rem 2rem 4rem; }
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: 0.15em; }
h1 { margin: 0 0 1rem; font-size: 1.7rem; }
h2 { margin: 3rem 0 0.25rem; font-size: 1.3rem; }
h2::first-letter, nav a::first-letter { text-transform: uppercase; }
nav a { display: inline-block; }
.contents { margin: 0.75rem 0; padding: 0; list-style: none; font-size: 0.92em; }
.contents li { padding: 0.1rem 0; overflow-wrap: anywhere; }
.contents a { margin-right: 0.75rem; text-decoration: none; }
.contents a:hover, .contents a:focus { text-decoration: underline; }
article:target { border-color: var(--soft); }
article, .chapter { scroll-margin-top: 1rem; }
h3 { margin: 0; font-size: 1rem; font-weight: 600; overflow-wrap: anywhere; }
article { margin: 1.25rem 0; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: 6px; }
article p { margin: 0.5rem 0; }
.who { color: var(--soft); }
.method { display: inline-block; min-width: 3.75rem; font: 600 0.8rem ui-monospace, monospace; }
.get { color: var(--get); }
.post { color: var(--post); }
.put { color: var(--put); }
.delete, .deprecated { color: var(--delete); }
code, pre { font: 0.87em/1.5 ui-monospace, monospace; }
pre code { font-size: inherit; }
pre { margin: 0.5rem 0; padding: 0.6rem 0.8rem; overflow-x: auto; background: var(--panel); border-radius: 4px; }
pre.curl { white-space: pre-wrap; overflow-wrap: anywhere; }
table { width: 100%; margin: 0.5rem 0; border-collapse: collapse; font-size: 0.92em; }
caption { text-align: left; color: var(--soft); font-size: 0.85em; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
th { width: 13rem; font-weight: 400; }
td:nth-child(2) { width: 14rem; color: var(--soft); overflow-wrap: anywhere; }
details { margin-top: 0.5rem; color: var(--soft); }
summary { cursor: pointer; font-size: 0.87em; }
@media (max-width: 60rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  nav ul { columns: 2; }
  main { padding: 1rem; }
  table, caption, tbody, tr, th, td { display: block; width: auto; }
  th, td, td:nth-child(2) { width: auto; padding: 0; border: 0; }
  tr { padding: 0.4rem 0; border-top: 1px solid var(--line); }
  .contents li { padding: 0.3rem 0; }
  .contents .who { display: block; }
}
@media print {
  nav { display: none; }
}
`;
