// One request to Vault and its answer: time and size are bounded, a server that is busy, sealed or out of reach is asked again
// a few times with growing, jittered pauses. Nothing that a server says is repeated in a message: it may echo what it got.

import { Fault } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { closedFault } from "../secrets-file/secret-rules.ts";

export interface VaultRequest {
  readonly method: "GET" | "POST";
  /** Without `/v1/`. */
  readonly path: string;
  readonly token?: string;
  readonly body?: unknown;
}

export interface VaultAnswer {
  readonly status: number;
  /** The parsed body; undefined when there was none or it was not JSON. */
  readonly body: unknown;
  /** True when an earlier attempt got no answer, so that what was asked may have been done already. */
  readonly isRepeated: boolean;
}

export interface VaultHttpOptions {
  readonly address: string;
  readonly namespace?: string;
  /** Allows `http://` to another machine, where everybody in between can read the secrets. */
  readonly isPlainHttpAllowed?: boolean;
  readonly timeoutMs?: number;
  readonly attemptsMax?: number;
  readonly timers: Timers;
  readonly random: Random;
}

export interface VaultHttp {
  call(request: VaultRequest): Promise<VaultAnswer>;
  /** Ends what is under way and refuses the rest. */
  close(): void;
}

const answerBytesMax = 4 * 1024 * 1024;
const pauseMsMin = 100;
const pauseMsMax = 2_000;
const retryAfterMsMax = 5_000;

function misconfigured(message: string): Fault {
  return new Fault("CONFIGURATION_INVALID", message, { retry: "never" });
}

export function unavailable(message: string, retry: "later" | "never", facts: Record<string, string | number>): Fault {
  return new Fault("SECRETS_UNAVAILABLE", message, { retry, facts });
}

/** A header's value must be checked here: the complaint of `fetch` would quote it. */
export function checkHeaderValue(name: string, value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value))
    throw misconfigured(`${name} is empty or has characters that no header can carry.`);
  return value;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

export function baseAddress(address: string, isPlainHttpAllowed: boolean): string {
  if (!URL.canParse(address)) throw misconfigured("Vault's address is not a URL.");
  const url = new URL(address);
  if (url.username !== "" || url.password !== "") throw misconfigured("Vault's address must not carry credentials.");
  if (url.search !== "" || url.hash !== "") throw misconfigured("Vault's address must not have a query or fragment.");
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !isPlainHttpAllowed) {
    throw misconfigured(`Vault's address is http:// to another machine (${url.hostname}): use https://.`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw misconfigured("Vault's address is not http or https.");
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}`;
}

/** An attempt that brought no usable answer, and whether and when to try again. */
interface Failure {
  readonly sentence: string;
  readonly status: number;
  readonly reason: string;
  readonly isWorthRepeating: boolean;
  readonly mayHaveWorked: boolean;
  readonly retryAfterMs?: number;
}

function failedConnection(thrown: unknown, isTimedOut: boolean): Failure {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "no answer";
  const common = { status: 0, mayHaveWorked: true };
  if (isTimedOut)
    return { ...common, sentence: "Vault did not answer in time", reason: "timeout", isWorthRepeating: true };
  if (/CERT|SIGNATURE|TLS|SSL/.test(code)) {
    const sentence = "Vault's certificate is not trusted (NODE_EXTRA_CA_CERTS names the file of a private authority)";
    return { ...common, sentence, reason: code, isWorthRepeating: false };
  }
  return { ...common, sentence: "Vault cannot be reached", reason: code, isWorthRepeating: true };
}

/** What a status says that is about the server and not about the request; undefined for all others. */
function unwellServer(response: Response): Failure | undefined {
  const { status } = response;
  const retryAfterS = Number(response.headers.get("retry-after") ?? "NaN");
  const pause = Number.isFinite(retryAfterS) ? { retryAfterMs: Math.min(retryAfterS * 1000, retryAfterMsMax) } : {};
  const common = { status, reason: `status ${status}`, isWorthRepeating: true, ...pause };
  if (status === 429) return { ...common, sentence: "Vault limits our rate", mayHaveWorked: false };
  if (status === 412) return { ...common, sentence: "This Vault node is behind the others", mayHaveWorked: false };
  if (status === 503) {
    return { ...common, sentence: "Vault is sealed or down for maintenance", mayHaveWorked: true };
  }
  if (status >= 500) return { ...common, sentence: "Vault has an internal error", mayHaveWorked: true };
  if (status >= 300 && status < 400) {
    const sentence = "Vault redirects elsewhere; name the active node or the load balancer as its address";
    return { ...common, sentence, isWorthRepeating: false, mayHaveWorked: false };
  }
  return undefined;
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) {
      throw unavailable(`Vault's answer has more than ${answerBytesMax} bytes.`, "never", {
        reason: "answer too large",
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // The parser's message quotes the text, which may hold a secret; whoever needs the body complains that it is not there.
    return undefined;
  }
}

export function openVaultHttp(options: VaultHttpOptions): VaultHttp {
  const base = baseAddress(options.address, options.isPlainHttpAllowed === true);
  const { timeoutMs = 5_000, attemptsMax = 5 } = options;
  const namespace =
    options.namespace === undefined ? undefined : checkHeaderValue("Vault's namespace", options.namespace);
  const closing = new AbortController();

  function headersFor(request: VaultRequest): Record<string, string> {
    const headers: Record<string, string> = { "x-vault-request": "true", accept: "application/json" };
    if (request.token !== undefined) headers["x-vault-token"] = request.token;
    if (namespace !== undefined) headers["x-vault-namespace"] = namespace;
    if (request.body !== undefined) headers["content-type"] = "application/json";
    return headers;
  }

  async function attempt(request: VaultRequest): Promise<Omit<VaultAnswer, "isRepeated"> | Failure> {
    const ending = new AbortController();
    const cancelTimeout = options.timers.after(timeoutMs, () => ending.abort());
    const body = request.body === undefined ? {} : { body: JSON.stringify(request.body) };
    try {
      const response = await fetch(`${base}/v1/${request.path}`, {
        method: request.method,
        headers: headersFor(request),
        // The token is a header of ours, which fetch would carry along to wherever a redirect points.
        redirect: "manual",
        signal: AbortSignal.any([ending.signal, closing.signal]),
        ...body,
      });
      const text = await boundedText(response);
      return unwellServer(response) ?? { status: response.status, body: parsed(text) };
    } catch (thrown) {
      if (closing.signal.aborted) throw closedFault();
      if (thrown instanceof Fault) throw thrown;
      return failedConnection(thrown, ending.signal.aborted);
    } finally {
      cancelTimeout();
    }
  }

  function pauseMs(failure: Failure, count: number): number {
    const longest = Math.min(pauseMsMin * 2 ** count, pauseMsMax);
    const jitter = 0.5 + (options.random.bytes(1)[0] ?? 0) / 512;
    return Math.max(longest * jitter, failure.retryAfterMs ?? 0);
  }

  return {
    async call(request) {
      let isRepeated = false;
      for (let count = 0; ; count += 1) {
        if (closing.signal.aborted) throw closedFault();
        const outcome = await attempt(request);
        if (!("sentence" in outcome)) return { ...outcome, isRepeated };
        isRepeated ||= outcome.mayHaveWorked;
        const { sentence, status, reason, isWorthRepeating } = outcome;
        const facts = { status, reason, attempts: count + 1 };
        if (!isWorthRepeating) throw unavailable(`${sentence}.`, "never", facts);
        if (count + 1 >= attemptsMax) throw unavailable(`${sentence} (${count + 1} attempts).`, "later", facts);
        await options.timers.sleep(pauseMs(outcome, count), closing.signal);
      }
    },
    close() {
      closing.abort();
    },
  };
}
