// The keys of an issuer of the user's: found by OpenID discovery, chosen among by jose, kept while the issuer is away. jose could fetch
// them as well, but by a clock of its own, again at every failure, and without telling when what it holds has changed.
//
//  1. The discovery document must name the very issuer that was configured, and its keys must come over https (or from this machine).
//  2. Keys are fetched again every `refreshMs`, and at once for a key id that is not known, at most once per cooldown. After a failure
//     there is a growing pause, whoever asks.
//  3. Keys that were fetched once stay good while the issuer does not answer, for at most `ageMsMax`; a withdrawn key is noticed
//     within `refreshMs` of an issuer that answers.
//  4. Every question to the issuer ends in time, and a caller waits for keys only so long, whatever a token claims to be signed with.
//  5. Keys that are too short to be trusted are left out: what they signed is refused like what an unknown key signed.

import { hash } from "node:crypto";
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWK,
  type JWSHeaderParameters,
} from "jose";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Health } from "../../../ports/health.ts";
import type { Log } from "../../../ports/log.ts";
import type { CancelTimer, Timers } from "../../../ports/timers.ts";
import { unavailable } from "./refusals.ts";

/** Signatures that nobody can make who only knows what is public. */
export const externalAlgorithms: readonly string[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

export interface ExternalKeys {
  /** Rejects with jose's complaint about the header, or IDENTITY_UNAVAILABLE. */
  keyFor(header: JWSHeaderParameters): Promise<CryptoKey>;
  /** What changes whenever the published keys do; undefined while no keys can be relied on. */
  mark(): string | undefined;
  health(): Health;
  close(): Promise<void>;
}

export interface ExternalKeysOptions {
  readonly issuer: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly refreshMs?: number;
  readonly cooldownMs?: number;
  /** How long one question to the issuer may take altogether. */
  readonly timeoutMs?: number;
  /** How long one caller waits for keys. */
  readonly waitMsMax?: number;
}

const refreshMsDefault = 60_000;
const cooldownMsDefault = 5_000;
const timeoutMsDefault = 5_000;
const waitMsMaxDefault = 2_000;
const ageMsMax = 86_400_000;
const answerBytesMax = 1_048_576;
const pauseMsMin = 250;
const pauseMsMax = 15_000;

interface Fetched {
  readonly keys: ReturnType<typeof createLocalJWKSet>;
  readonly mark: string;
  readonly at: Instant;
}

export function openExternalKeys(options: ExternalKeysOptions): ExternalKeys {
  const { issuer, clock, timers, log, refreshMs = refreshMsDefault, cooldownMs = cooldownMsDefault } = options;
  const { timeoutMs = timeoutMsDefault, waitMsMax = waitMsMaxDefault } = options;
  const closing = new AbortController();
  let fetched: Fetched | undefined;
  let isWeakReported = false;
  let failed: { readonly times: number; readonly at: Instant; readonly sentence: string } | undefined;

  function notNow(): Fault | undefined {
    if (failed === undefined) return undefined;
    const pauseMs = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(failed.times, 16));
    return isWithin(pauseMs, failed.at) ? unavailable(failed.sentence, "issuer") : undefined;
  }

  /** A moment that lies ahead means that the clock was set back; it holds nobody up. */
  function isWithin(ms: number, at: Instant): boolean {
    const sinceMs = millisecondsBetween(at, clock.now());
    return sinceMs >= 0 && sinceMs < ms;
  }

  function keysOf(text: string): Fetched["keys"] {
    const { keys } = keySetOf(text);
    const trusted = keys.filter((key) => !isWeak(key));
    if (trusted.length < keys.length && !isWeakReported) {
      isWeakReported = true;
      log.warn("the issuer publishes RSA keys that are too short; what they signed is refused", { issuer, bitsMin });
    }
    return createLocalJWKSet({ keys: trusted });
  }

  async function load(): Promise<void> {
    const wait = notNow();
    if (wait !== undefined) throw wait;
    try {
      const ask = (url: string) => fetchText(url, { timers, timeoutMs, closing: closing.signal });
      const text = await ask(await discover(issuer, ask));
      const mark = hash("sha256", text, "base64url");
      const keys = fetched?.mark === mark ? fetched.keys : keysOf(text);
      fetched = { keys, mark, at: clock.now() };
      if (failed !== undefined) log.info("the issuer's keys are there again", { issuer });
      failed = undefined;
    } catch (thrown) {
      const sentence = `the issuer ${issuer} cannot be asked for its keys (${complaintOf(thrown)}): try again shortly`;
      if (failed === undefined) log.warn("the issuer's keys cannot be fetched", { issuer, error: complaintOf(thrown) });
      failed = { times: (failed?.times ?? 0) + 1, at: clock.now(), sentence };
      throw unavailable(sentence, "issuer");
    }
  }

  const loadOnce = shared(load);

  /** For a caller, who is told to come again instead of being kept. */
  async function loadSoon(): Promise<void> {
    let cancel: CancelTimer | undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      const sentence = `the issuer ${issuer} does not answer in time: try again shortly`;
      cancel = timers.after(waitMsMax, () => reject(unavailable(sentence, "issuer")));
    });
    try {
      await Promise.race([loadOnce(), tooLong]);
    } finally {
      cancel?.();
    }
  }

  const isUsable = (): boolean =>
    fetched !== undefined && Math.abs(millisecondsBetween(fetched.at, clock.now())) <= ageMsMax;

  const refreshing = (async () => {
    while (!closing.signal.aborted) {
      // A failure is kept in `failed` and reported by `health`; here it only means to try again sooner.
      const isLoaded = await loadOnce().then(
        () => true,
        () => false,
      );
      await timers.sleep(isLoaded ? refreshMs : Math.min(refreshMs, pauseMsMax), closing.signal);
    }
  })();

  async function choose(header: JWSHeaderParameters): Promise<CryptoKey> {
    if (fetched === undefined) throw unavailable(`the issuer ${issuer} has not given its keys yet`, "issuer");
    return fetched.keys(header);
  }

  return {
    async keyFor(header) {
      if (!isUsable()) await loadSoon();
      try {
        return await choose(header);
      } catch (thrown) {
        const isNew = thrown instanceof errors.JWKSNoMatchingKey;
        if (!isNew || fetched === undefined || isWithin(cooldownMs, fetched.at)) throw thrown;
      }
      await loadSoon();
      return choose(header);
    },
    mark: () => (isUsable() ? fetched?.mark : undefined),
    health() {
      if (isUsable()) return { status: "ok" };
      if (failed !== undefined) return { status: "failing", complaint: failed.sentence };
      return { status: "starting", complaint: `the issuer ${issuer} has not given its keys yet` };
    },
    async close() {
      closing.abort();
      await refreshing;
    },
  };
}

/** One run at a time; whoever comes meanwhile shares it. */
function shared(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Where the issuer publishes its keys, by its own word about itself. */
async function discover(issuer: string, ask: (url: string) => Promise<string>): Promise<string> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const document: unknown = parsed(await ask(url));
  if (typeof document !== "object" || document === null) throw new TypeError("its discovery document is not JSON");
  const { issuer: named, jwks_uri: keysUrl } = document as Readonly<Record<string, unknown>>;
  if (named !== issuer) {
    throw new TypeError("its discovery document names another issuer: identity.issuer must be spelt exactly alike");
  }
  if (typeof keysUrl !== "string" || !isSafeUrl(keysUrl)) {
    throw new TypeError("its discovery document has no jwks_uri with https://");
  }
  return keysUrl;
}

/** Keys that travel in the clear could be anybody's; on this machine nobody stands in between. */
function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  if (protocol === "https:") return true;
  return protocol === "http:" && (hostname === "localhost" || hostname === "[::1]" || /^127\.[\d.]+$/.test(hostname));
}

interface Asking {
  readonly timers: Timers;
  readonly timeoutMs: number;
  readonly closing: AbortSignal;
}

/**
 * Whoever waits for the issuer waits for a bounded time, to the last byte. The controller is held by the timer: a signal made of
 * others (AbortSignal.any) holds none of them, and one of a timeout that only it knows is collected and never fires.
 */
async function fetchText(url: string, { timers, timeoutMs, closing }: Asking): Promise<string> {
  const ending = new AbortController();
  const close = (): void => ending.abort(closing.reason);
  const cancel = timers.after(timeoutMs, () => ending.abort(new DOMException("no answer in time", "TimeoutError")));
  closing.addEventListener("abort", close, { once: true });
  if (closing.aborted) close();
  try {
    return await readText(url, ending.signal);
  } finally {
    cancel();
    closing.removeEventListener("abort", close);
  }
}

async function readText(url: string, signal: AbortSignal): Promise<string> {
  // Whoever redirects would decide where our trust comes from.
  const response = await fetch(url, { signal, redirect: "manual", headers: { accept: "application/json" } });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new TypeError(`it answered with status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new TypeError(`its answer has more than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // Whoever needs the document complains that it is not there; the parser's message would quote it.
    return undefined;
  }
}

function keySetOf(text: string): JSONWebKeySet {
  const value = parsed(text);
  const isSet = typeof value === "object" && value !== null && "keys" in value && Array.isArray(value.keys);
  if (!isSet) throw new TypeError("its answer is no set of keys");
  return value as JSONWebKeySet;
}

/** The least that RS256 and its kin ask of a key (RFC 7518, 3.3). */
const bitsMin = 2_048;

function isWeak({ kty, n }: JWK): boolean {
  if (kty !== "RSA" || typeof n !== "string") return false;
  const bytes = Buffer.from(n, "base64url");
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first < 0) return true;
  return (bytes.length - first) * 8 - (Math.clz32(bytes[first] ?? 0) - 24) < bitsMin;
}

/** `fetch` says only that it failed; the reason is in its cause. */
function complaintOf(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.message;
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code;
  if (thrown instanceof Error && thrown.name === "TimeoutError") return "no answer in time";
  return messageOf(thrown);
}
