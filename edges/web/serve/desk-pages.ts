// The desks' page and files, as the build left them: one page for every path, whose only content is where its script and style are, and files whose names
// carry their content. A platform that starts before the desks are built says so on a page that asks again.
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

interface DeskPagesOptions {
  /** Where the build put them. */
  readonly folder: string;
  /** Where people reach the operators' listener. */
  baseUrl(): string;
  /** Who logs people in; another origin than ours must be named in the page's policy. */
  issuer(): string;
}

interface DeskPages {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

const assetForm = /^\/assets\/([a-z0-9-]+-[A-Z0-9]{8}\.(js|css|svg|woff2))$/;
const packings = [
  ["br", "br"],
  ["gzip", "gz"],
] as const;

export function deskPages(options: DeskPagesOptions): DeskPages {
  return {
    async handle(request, response) {
      if (request.method !== "GET" && request.method !== "HEAD") {
        return send(request, response, { status: 405, headers: { allow: "GET, HEAD", ...plain }, body: "Only GET.\n" });
      }
      const [path = "/", query] = (request.url ?? "/").split("?", 2);
      if (path.startsWith("/assets")) return send(request, response, await asset(path, request, options));
      const elsewhere = baseFor(request, options.baseUrl());
      if (elsewhere !== undefined) {
        const location = `${elsewhere}${path}${query === undefined ? "" : `?${query}`}`;
        return send(request, response, { status: 307, headers: { location, ...plain }, body: "" });
      }
      send(request, response, await page(options));
    },
  };
}

interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const plain = { "content-type": "text/plain; charset=utf-8" };

function send({ method }: IncomingMessage, response: ServerResponse, { status, headers, body }: Sent): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader("content-length", Buffer.byteLength(body));
  response.end(method === "HEAD" ? undefined : body);
}

async function asset(path: string, request: IncomingMessage, { folder }: DeskPagesOptions): Promise<Sent> {
  const [, name, ending = ""] = assetForm.exec(path) ?? [];
  const missing = { status: 404, headers: plain, body: "There is no such file: reload the page.\n" };
  if (name === undefined) return missing;
  const headers = {
    "content-type": types[ending] ?? "application/octet-stream",
    // The name changes with the content.
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
  };
  const accepted = String(request.headers["accept-encoding"] ?? "").split(/[\s,;]+/);
  for (const [encoding, suffix] of packings) {
    if (!accepted.includes(encoding)) continue;
    const packed = await found(join(folder, `${name}.${suffix}`));
    if (packed !== undefined)
      return { status: 200, headers: { ...headers, "content-encoding": encoding }, body: packed };
  }
  const body = await found(join(folder, name));
  return body === undefined ? missing : { status: 200, headers, body };
}

async function found(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** People type `localhost`; logins know one address only, and cookies of the other would be lost on the way. */
function baseFor({ headers }: IncomingMessage, baseUrl: string): string | undefined {
  const base = new URL(baseUrl);
  const isLocal = /^localhost(:\d+)?$/i.test(headers.host ?? "");
  return isLocal && base.hostname !== "localhost" ? base.origin : undefined;
}

async function page({ folder, baseUrl, issuer }: DeskPagesOptions): Promise<Sent> {
  const body = await found(join(folder, "page.html"));
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policyOf(baseUrl(), issuer()),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
  };
  if (body !== undefined) return { status: 200, headers, body };
  return { status: 503, headers: { ...headers, refresh: "2", "retry-after": "2" }, body: beingBuilt };
}

export function policyOf(baseUrl: string, issuer: string): string {
  const foreign = new URL(issuer).origin === new URL(baseUrl).origin ? "" : ` ${new URL(issuer).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${foreign}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const beingBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Portcullis</title></head>
<body><main><h1>The desks are being built</h1>
<p>The platform runs; its pages are made once after a start and will be here in a moment. This page asks again by itself.
If it does not end, run <code>npm run build</code> and read what it says. <code>ctl</code> works meanwhile.</p></main></body>
</html>
`;
