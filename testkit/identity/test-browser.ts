// A browser for tests, as small as can be: keeps cookies by path, follows redirects within the provider, and fills in forms.
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";

export interface Shown {
  readonly status: number;
  readonly url: string;
  readonly text: string;
  readonly headers: Headers;
}

export interface TestBrowser {
  open(url: string): Promise<Shown>;
  /** Sends the page's form with these fields over its own, as if the button of that `name=value` had been pressed. */
  submit(page: Shown, fields: Readonly<Record<string, string>>, button?: string): Promise<Shown>;
  readonly cookies: readonly {
    readonly name: string;
    readonly value: string;
    readonly path: string;
    readonly line: string;
  }[];
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly line: string;
}

const redirectsMax = 10;

export function createTestBrowser(issuer: string, headers: Readonly<Record<string, string>> = {}): TestBrowser {
  const jar: Cookie[] = [];

  function keep(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const [name = "", value = ""] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
      const path = attributes.find((each) => each.toLowerCase().startsWith("path="))?.slice(5) ?? "/";
      const known = jar.findIndex((each) => each.name === name && each.path === path);
      if (known >= 0) jar.splice(known, 1);
      if (!line.includes("1970")) jar.push({ name, value, path, line });
    }
  }

  async function go(url: string, init: RequestInit = {}): Promise<Shown> {
    let next = { url, init };
    for (let count = 0; count < redirectsMax; count += 1) {
      const { pathname } = new URL(next.url);
      const sent = jar.filter((each) => pathname.startsWith(each.path)).map((each) => `${each.name}=${each.value}`);
      const response = await fetchOnNewConnection(next.url, {
        ...next.init,
        redirect: "manual",
        headers: { accept: "text/html", ...headers, ...next.init.headers, cookie: sent.join("; ") },
      });
      keep(response);
      const location = response.headers.get("location");
      const target = location === null ? undefined : new URL(location, next.url).href;
      if (target === undefined || !target.startsWith(`${issuer}/`)) {
        return {
          status: response.status,
          url: target ?? next.url,
          text: await response.text(),
          headers: response.headers,
        };
      }
      next = { url: target, init: {} };
    }
    throw new Error("too many redirects");
  }

  return {
    cookies: jar,
    open: (url) => go(url),
    submit(page, fields, button) {
      const form = /<form[^>]*>[\s\S]*?<\/form>/.exec(page.text)?.[0] ?? "";
      const action = attribute(/<form[^>]*>/.exec(form)?.[0] ?? "", "action") ?? page.url;
      const body = new URLSearchParams();
      for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
        const name = attribute(tag, "name");
        if (name !== undefined) body.set(name, attribute(tag, "value") ?? "");
      }
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      for (const [tag] of form.matchAll(/<button[^>]*>/g)) {
        const name = attribute(tag, "name");
        const value = attribute(tag, "value") ?? "";
        if (name !== undefined && `${name}=${value}` === button) body.set(name, value);
      }
      return go(new URL(action, page.url).href, {
        method: "POST",
        body,
        headers: { origin: new URL(issuer).origin, "sec-fetch-site": "same-origin" },
      });
    },
  };
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value?.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
}
