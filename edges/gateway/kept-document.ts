// A document that is the same for every caller while the process runs: made once, packed once, tagged by its content. It can be asked for without a token, so
// an answer must cost no more than sending it.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { HttpAnswer, HttpRequest } from "../../ports/http.ts";

interface KeptOptions {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  make(): Promise<string>;
}

interface Kept {
  readonly plain: HttpAnswer;
  readonly packed: HttpAnswer;
}

const pack = promisify(gzip);

/** A handler of a route that is declared with `document`. */
export function keptDocument(options: KeptOptions): (request: Pick<HttpRequest, "headers">) => Promise<HttpAnswer> {
  let kept: Promise<Kept> | undefined;
  return async ({ headers }) => {
    kept ??= keep(options).catch((thrown: unknown) => {
      // What could not be made is tried again by the next caller.
      kept = undefined;
      throw thrown;
    });
    const { plain, packed } = await kept;
    return takesGzip(headers["accept-encoding"]) ? packed : plain;
  };
}

async function keep({ contentType, headers, make }: KeptOptions): Promise<Kept> {
  const bytes = Buffer.from(await make());
  const tag = createHash("sha256").update(bytes).digest("base64url").slice(0, 27);
  const common = { "cache-control": "no-cache", ...headers, vary: "accept-encoding" };
  return {
    plain: { status: 200, body: bytes, contentType, headers: { ...common, etag: `"${tag}"` } },
    packed: {
      status: 200,
      body: await pack(bytes, { level: 9 }),
      contentType,
      // Other bytes are another representation, which has a tag of its own (RFC 9110, 8.8.3).
      headers: { ...common, etag: `"${tag}-gzip"`, "content-encoding": "gzip" },
    },
  };
}

/** Named, or covered by a star, and not refused by a weight of zero (RFC 9110, 12.5.3). */
function takesGzip(accepted: string | readonly string[] | undefined): boolean {
  const codings = String(accepted ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.split(";").map((part) => part.trim()));
  const asked = codings.find(([name]) => name === "gzip") ?? codings.find(([name]) => name === "*");
  return asked !== undefined && !asked.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
}
