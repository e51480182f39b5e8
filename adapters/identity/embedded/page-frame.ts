// What every page of the provider has in common: one small stylesheet, no script, nothing from anywhere else, readable at 320 pixels
// and in the dark.
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Html, html } from "./html.ts";

export interface Page {
  readonly status: number;
  readonly title: string;
  readonly body: Html;
  readonly headers?: Readonly<Record<string, string>>;
}

// Pairs of text and ground have a contrast of at least 4.5 to 1, borders of fields and the focus ring at least 3 to 1.
const style = `
:root{color-scheme:light dark;--ground:#f3f4f6;--card:#fff;--text:#16191d;--quiet:#525a65;--line:#7c8592;--hair:#d9dde3;
--action:#1b4fae;--action-over:#153f8c;--on-action:#fff;--alarm:#9c1c1c;--alarm-ground:#fdf0ef;--fact:#f3f4f6}
@media (prefers-color-scheme:dark){:root{--ground:#111417;--card:#1b1f24;--text:#e8eaed;--quiet:#a8b0ba;--line:#7c8592;--hair:#343a42;
--action:#8db4ff;--action-over:#aecaff;--on-action:#0c1526;--alarm:#ffb4ab;--alarm-ground:#3a1c1a;--fact:#24292f}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;background:var(--ground);color:var(--text);font:1rem/1.5 system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
display:flex;flex-direction:column;align-items:center;padding:clamp(1rem,8vh,5rem) 1rem 2rem}
header,main{width:100%;max-width:27rem}
header{display:flex;align-items:center;gap:.6rem;margin-bottom:1rem;font-weight:650;letter-spacing:.01em}
header svg{flex:none;width:1.5rem;height:1.5rem;color:var(--action)}
main{background:var(--card);border:1px solid var(--hair);border-radius:.75rem;padding:clamp(1.25rem,6vw,2rem);overflow-wrap:anywhere}
h1{margin:0 0 .5rem;font-size:1.375rem;line-height:1.25;text-wrap:balance}
p{margin:0 0 1rem}
main>:last-child{margin-bottom:0}
::placeholder{color:var(--quiet);opacity:1}
ul{margin:0 0 1rem;padding-left:1.25rem}
li{margin:.25rem 0}
label{display:block;font-weight:600;margin:1rem 0 .375rem}
input:not([type=hidden]){width:100%;min-height:2.875rem;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
input.code{font:600 1.375rem/1.2 ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;letter-spacing:.12em;text-transform:uppercase;text-align:center}
.buttons{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
button{flex:1 1 8rem;min-height:2.875rem;padding:.5rem 1rem;font:inherit;font-weight:600;border-radius:.5rem;border:1px solid var(--action);cursor:pointer;color:var(--on-action);background:var(--action)}
button:hover{background:var(--action-over);border-color:var(--action-over)}
button.other{color:var(--text);background:transparent;border-color:var(--line)}
button.other:hover{background:var(--fact)}
a{color:var(--action);white-space:nowrap}
:focus-visible{outline:3px solid var(--action);outline-offset:2px}
[role=alert]{margin:1rem 0;padding:.75rem 1rem;border-left:.25rem solid var(--alarm);border-radius:.25rem;background:var(--alarm-ground);color:var(--alarm)}
dl{display:grid;grid-template-columns:auto 1fr;gap:.375rem 1rem;margin:0 0 1rem;padding:.875rem 1rem;background:var(--fact);border-radius:.5rem}
dt{color:var(--quiet)}
dd{margin:0;font-weight:600}
.userCode{font:700 1.75rem/1.2 ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;letter-spacing:.08em;text-align:center;margin:1rem 0;white-space:nowrap}
.quiet{color:var(--quiet);font-size:.9375rem}
@media (max-width:22rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}.userCode{font-size:1.375rem}}
`;

const styleHash = createHash("sha256").update(style).digest("base64");

const gate = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true"><path d="M4 20V9a8 8 0 0 1 16 0v11M9 4v16M15 4v16M4 11h16M4 16h16"/></svg>`;

/** Browsers also hold the redirect that follows a form against this, so a client's own address must be named. */
export function pagePolicy(formOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    // Named, because the library adds the hash of its own one line to it where a page has to send itself on.
    "script-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    ["form-action 'self'", ...formOrigins].join(" "),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/** The headers under which a page is safe to show; without a referrer a browser would not say where a form came from. */
export function pageHeaders(formOrigins: readonly string[]): Readonly<Record<string, string>> {
  return {
    "content-security-policy": pagePolicy(formOrigins),
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
}

export function documentOf(page: Page): string {
  const title = page.title === "Portcullis" ? page.title : `${page.title} · Portcullis`;
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${{ markup: style }}</style>
</head>
<body>
<header>${gate}<span>Portcullis</span></header>
<main>
${page.body}
</main>
</body>
</html>
`;
  return markup;
}

export function sendPage(response: ServerResponse, page: Page, formOrigins: readonly string[]): void {
  const text = documentOf(page);
  response.statusCode = page.status;
  for (const [name, value] of Object.entries({ ...pageHeaders(formOrigins), ...page.headers })) {
    response.setHeader(name, value);
  }
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.setHeader("content-length", Buffer.byteLength(text));
  response.end(text);
}
