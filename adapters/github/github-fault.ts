// What a failed call to GitHub means: away or asked to wait (later), or refused (never). Nothing of what was sent or answered goes further but the status: an
// answer may repeat what was asked, and what was asked has a token.
import { z } from "zod";
import { Fault } from "../../contracts/src/fault.ts";

interface Failed {
  readonly status?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly response?: { readonly headers?: Readonly<Record<string, string | undefined>>; readonly data?: unknown };
}

const waitMsDefault = 60_000;
const waitMsMax = 3_600_000;

/** `now` is for the moment at which GitHub's count begins anew. */
export function githubFault(thrown: unknown, what: string, now: number): Fault {
  if (thrown instanceof Fault) return thrown;
  const failed = thrown as Failed;
  if (failed.cause instanceof Fault) return failed.cause;
  const headers = failed.response?.headers;
  const status = typeof failed.status === "number" && headers !== undefined ? failed.status : 0;
  const waitMs = limitMs(failed, status, now);
  if (waitMs !== undefined) {
    return new Fault("GITHUB_UNAVAILABLE", `GitHub asks us to wait (${what}).`, {
      retry: "later",
      facts: { status, retryAfterMs: waitMs },
    });
  }
  if (status === 0 || status >= 500 || status === 408) {
    const said = status === 0 ? "did not answer" : `answered with HTTP status ${status}`;
    return new Fault("GITHUB_UNAVAILABLE", `GitHub ${said} (${what}).`, { retry: "later", facts: { status } });
  }
  return refusal(status, what);
}

export function refusal(status: number, what: string): Fault {
  return new Fault("GITHUB_REFUSED", `GitHub refused with HTTP status ${status} (${what}).`, {
    retry: "never",
    facts: { status },
  });
}

/** Undefined where it was no limit. */
function limitMs({ response, message }: Failed, status: number, now: number): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const headers = response?.headers ?? {};
  const after = Number(headers["retry-after"]);
  const isLimit =
    status === 429 ||
    headers["retry-after"] !== undefined ||
    headers["x-ratelimit-remaining"] === "0" ||
    (typeof message === "string" && /\b(secondary rate|rate limit)\b/i.test(message.slice(0, 500)));
  if (!isLimit) return undefined;
  if (Number.isFinite(after) && headers["retry-after"] !== undefined)
    return Math.min(Math.max(after, 1) * 1_000, waitMsMax);
  const reset = Number(headers["x-ratelimit-reset"]) * 1_000 - now;
  return Number.isFinite(reset) && reset > 0 ? Math.min(reset + 1_000, waitMsMax) : waitMsDefault;
}

/** Whether GitHub says that there is no such thing, or none for us. */
export function isGone(thrown: unknown): boolean {
  return thrown instanceof Fault && (thrown.facts["status"] === 404 || thrown.facts["status"] === 410);
}

/** The same methods; an answer in another form than GitHub's is a refusal too, and says nothing of what it was. */
export function withReadFaults<Methods extends object>(methods: Methods): Methods {
  const guarded = Object.entries(methods).map(([name, method]: [string, (...given: unknown[]) => Promise<unknown>]) => {
    const call = async (...given: unknown[]): Promise<unknown> => {
      try {
        return await method(...given);
      } catch (thrown) {
        if (!(thrown instanceof z.ZodError)) throw thrown;
        throw new Fault("GITHUB_REFUSED", `GitHub answered in another form than it promises (${name}).`, {
          retry: "never",
          facts: { status: 0 },
        });
      }
    };
    return [name, call];
  });
  return Object.fromEntries(guarded) as Methods;
}
