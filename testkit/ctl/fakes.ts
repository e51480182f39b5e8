// For ctl's tests: a server and issuer on a free port that answer as they are told, streams that remember, and ctl run in this process with both.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { fromUnixMs, type Instant } from "../../contracts/src/instant.ts";
import { runCtl } from "../../edges/ctl/main.ts";
import type { Streams } from "../../edges/ctl/terminal.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Timers } from "../../ports/timers.ts";

export interface Seen {
  readonly route: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FakeServer {
  readonly url: string;
  readonly seen: Seen[];
  /** What "GET /path" answers from now on; a function is asked each time. */
  on(route: string, answer: FakeAnswer | ((seen: Seen) => FakeAnswer | Promise<FakeAnswer>)): void;
  calls(route: string): readonly Seen[];
  close(): Promise<void>;
}

export async function startFakeServer(): Promise<FakeServer> {
  const answers = new Map<string, (seen: Seen) => FakeAnswer | Promise<FakeAnswer>>();
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const one = {
        route: `${request.method} ${request.url}`,
        authorization: request.headers.authorization,
        body: await bodyOf(request),
      };
      seen.push(one);
      const answer = (await answers.get(one.route)?.(one)) ?? problem(404, "NOT_FOUND", "There is nothing here.");
      const type =
        (answer.status ?? 200) >= 400 && one.route.includes("/v1/") ? "application/problem+json" : "application/json";
      response.writeHead(answer.status ?? 200, { "content-type": type, ...answer.headers });
      response.end(JSON.stringify(answer.body ?? {}));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    seen,
    on: (route, answer) => void answers.set(route, typeof answer === "function" ? answer : () => answer),
    calls: (route) => seen.filter((one) => one.route === route),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request) text += String(part);
  return text;
}

export function problem(status: number, code: string, detail: string): FakeAnswer {
  return { status, body: { type: "about:blank", title: code, status, code, detail } };
}

/** Signed by nobody: ctl chooses tokens by what they say, and only a server verifies them. */
export function fakeJwt(claims: Readonly<Record<string, unknown>>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "ES256" })}.${part(claims)}.c2lnbmF0dXJl`;
}

/** Time that passes only by sleeping; every sleep is remembered. */
export function virtualTime(startUnixMs: number): { clock: Clock; timers: Timers; slept: number[] } {
  let nowMs = startUnixMs;
  const slept: number[] = [];
  const timers: Timers = {
    sleep: async (ms, signal) => {
      slept.push(ms);
      if (!signal?.aborted) nowMs += ms;
    },
    after: () => () => undefined,
    soon: () => undefined,
  };
  return { clock: { now: (): Instant => fromUnixMs(nowMs) }, timers, slept };
}

export interface RunOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly folder: string;
  /** A ctl without a repository around it; else the folder is one. */
  readonly installedAlone?: boolean;
  readonly signal?: AbortSignal;
  /** Lines that a person types; given, all three streams are terminals. */
  readonly typed?: readonly string[];
  /** What a program writes to stdin, to its end. */
  readonly piped?: string | Uint8Array;
  /** Of the terminal that shows the answer; without it stdout has no size, and lists are not fitted. */
  readonly size?: { readonly columns: number; readonly rows: number };
}

export interface RunResult {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runFake(argv: readonly string[], options: RunOptions): Promise<RunResult> {
  const text = { stdout: "", stderr: "" };
  const isTTY = options.typed !== undefined;
  const stdin = new PassThrough();
  if (options.piped !== undefined) stdin.end(options.piped);
  const waiting = [...(options.typed ?? [])];
  const sink = (name: "stdout" | "stderr") => {
    const stream = new PassThrough();
    stream.on("data", (part: Buffer) => {
      text[name] += part.toString("utf8");
      // A question is answered when it stands, as a person would.
      if (name === "stderr" && /: $/.test(text.stderr) && waiting.length > 0) stdin.write(`${waiting.shift()}\n`);
    });
    return Object.assign(stream, {
      isTTY: isTTY || (options.size !== undefined && name === "stdout"),
      ...options.size,
    });
  };
  const streams = { stdin: Object.assign(stdin, { isTTY }), stdout: sink("stdout"), stderr: sink("stderr") };
  const exit = await runCtl(argv, {
    environment: options.environment,
    clock: options.clock,
    timers: options.timers,
    random: { bytes: (count) => new Uint8Array(count), uuid: () => "00000000-0000-4000-8000-000000000001" },
    signal: options.signal ?? new AbortController().signal,
    folder: options.folder,
    repository: options.installedAlone === true ? undefined : options.folder,
    version: () => "0.0.0-test",
    renderPdf: async (document) => (await import("../../compose/report-pdf.ts")).pdfOf(document),
    runWitness: async () => undefined,
    streams: streams as unknown as Streams,
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { exit, ...text };
}
