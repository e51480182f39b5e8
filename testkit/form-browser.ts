// The least browser that gets through a login: it keeps cookies, follows redirects and sends the form of the page it is on. For tests
// that are about the flow; how a page looks and reads is for a real one.
import { fetchOnNewConnection } from "./http/fetch-on-new-connection.ts";

export interface FormBrowser {
  /** The page at that address. */
  open(url: string): Promise<string>;
  /** Sends the first form of the page, with its hidden fields and these; the page that follows. */
  submit(fields: Readonly<Record<string, string>>): Promise<string>;
}

const redirectsMax = 10;

export function openBrowser(): FormBrowser {
  const cookies = new Map<string, string>();
  let page = { url: "", html: "" };

  async function go(url: string, body?: URLSearchParams): Promise<string> {
    let next: { readonly url: string; readonly body?: URLSearchParams } = body === undefined ? { url } : { url, body };
    for (let count = 0; count < redirectsMax; count += 1) {
      const answer = await fetchOnNewConnection(next.url, {
        method: next.body === undefined ? "GET" : "POST",
        redirect: "manual",
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "), accept: "text/html" },
        ...(next.body === undefined ? {} : { body: next.body }),
      });
      for (const line of answer.headers.getSetCookie()) keep(cookies, line);
      const html = await answer.text();
      const location = answer.headers.get("location");
      if (location === null) {
        page = { url: next.url, html };
        return html;
      }
      next = { url: new URL(location, next.url).href };
    }
    throw new Error(`more than ${redirectsMax} redirects from ${url}`);
  }

  return {
    open: (url) => go(url),
    submit(fields) {
      const form = /<form\b[^>]*>[\s\S]*?<\/form>/.exec(page.html)?.[0];
      if (form === undefined) throw new Error(`there is no form on ${page.url}: ${page.html.slice(0, 500)}`);
      const action = attribute(/<form\b[^>]*>/.exec(form)?.[0] ?? "", "action") ?? page.url;
      const body = new URLSearchParams();
      for (const [input] of form.matchAll(/<input\b[^>]*>/g)) {
        const name = attribute(input, "name");
        if (name !== undefined && attribute(input, "type") === "hidden")
          body.set(name, attribute(input, "value") ?? "");
      }
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return go(new URL(action, page.url).href, body);
    },
  };
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
}

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";");
  const equals = pair.indexOf("=");
  const isOver = attributes.some((one) => /^\s*(max-age=0|expires=Thu, 01 Jan 1970)/i.test(one));
  if (isOver || pair.slice(equals + 1) === "") cookies.delete(pair.slice(0, equals));
  else cookies.set(pair.slice(0, equals), pair.slice(equals + 1));
}
