// Changes under a condition (RFC 9110, If-Match): whoever names the version that they read changes nothing when somebody was faster. The ETag of what
// has versions is its version. A version in the body counts as well, and both must agree.
import { Fault } from "../../contracts/src/fault.ts";
import type { HttpAnswer, HttpRequest } from "../../ports/http.ts";

interface Condition {
  /** The version that the body makes: the current one plus 1. */
  readonly bodyVersion: number;
  /** What the service answers when somebody was faster. */
  readonly conflictCode: string;
}

const versionTag = /^"(0|[1-9][0-9]{0,15})"$/;

/** The version that was read; undefined when the caller names none, or any. */
export function namedVersion({ headers }: Pick<HttpRequest, "headers">): number | undefined {
  const named = headers["if-match"];
  if (named === undefined || named === "*") return undefined;
  const version = typeof named === "string" ? versionTag.exec(named.trim())?.[1] : undefined;
  if (version !== undefined) return Number(version);
  const sentence =
    'If-Match must be the ETag that a GET answered, such as "7", or *: one, in quotes, and not a weak one.';
  throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

/** With If-Match a conflict is 412 under the same code, and one that the request itself shows is never asked of the service. */
export async function underIfMatch(
  request: Pick<HttpRequest, "headers">,
  { bodyVersion, conflictCode }: Condition,
  change: () => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const named = namedVersion(request);
  if (named !== undefined && bodyVersion !== named + 1) {
    const detail = `If-Match names version ${named}, so the body must make version ${named + 1}; it makes ${bodyVersion}. Nothing was changed.`;
    return { status: 412, body: { code: conflictCode, detail } };
  }
  return conflictTagged(named, conflictCode, await change());
}

/** The same for a service that judges the version itself: the answer with its tag, and a conflict as 412. */
export function conflictTagged(named: number | undefined, conflictCode: string, given: HttpAnswer): HttpAnswer {
  const answer = withVersionTag(given);
  const { code } = answer.body as { readonly code?: unknown };
  return named !== undefined && answer.status >= 400 && code === conflictCode ? { ...answer, status: 412 } : answer;
}

/** The version of what is answered as its ETag. */
export function withVersionTag(answer: HttpAnswer): HttpAnswer {
  const { version } = answer.body as { readonly version?: unknown };
  if (answer.status >= 400 || typeof version !== "number") return answer;
  return { ...answer, headers: { ...answer.headers, etag: `"${version}"` } };
}

/** The routes whose ETag is a version, for their descriptions. */
export const versionedRoutes: ReadonlySet<string> = new Set([
  "getEnvelope",
  "updateEnvelope",
  "getReferenceData",
  "setReferenceData",
  "getWatchdogConfig",
  "setWatchdogConfig",
]);
