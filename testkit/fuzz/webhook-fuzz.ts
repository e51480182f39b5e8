// Sends wrong requests to the charting webhook, whole, chunked, slowly, several at once and cut off, and holds each answer against what that request may
// get: no failure of ours, nothing accepted, no secret in an answer, and one and the same 401. The same seed asks the same.
import { setTimeout as sleep } from "node:timers/promises";
import { type RawAnswer, type RawConnection, rawConnection } from "./raw-connection.ts";
import { pick, type Random, seededRandom } from "./values.ts";
import { bytesOf, type FuzzedFund, type WebhookRequest, wrongWebhookRequest } from "./webhook-requests.ts";

export interface WebhookFuzzOptions {
  readonly publicUrl: string;
  readonly funds: readonly FuzzedFund[];
  readonly requests: number;
  readonly seed: number;
  /** Resident memory of the processes that read the requests, by name, in MB. */
  readonly memoryMb: () => Readonly<Record<string, number>>;
  readonly say?: (line: string) => void;
}

export interface WebhookFuzzResult {
  readonly seed: number;
  readonly requests: number;
  readonly by_status: Readonly<Record<string, number>>;
  readonly by_code: Readonly<Record<string, number>>;
  readonly by_way: Readonly<Record<string, number>>;
  /** Answered 503 or 408 after two seconds, which is what a machine that stands still is to say; in by_status as well. */
  readonly late: number;
  readonly violations: readonly { readonly wrong: string; readonly status: number; readonly why: string }[];
  /** From a tenth of the way, when everything is loaded, to the end. */
  readonly rss_growth_mb: Readonly<Record<string, number>>;
}

type Way = "whole" | "slow" | "pipelined" | "cut off" | "never ends";

const inFlightMax = 16;
const violationsMax = 100;
const pipelinedMax = 6;
const answerMsMax = 20_000;
/** An answer that was given up on comes no earlier. */
const lateMsMin = 1_900;
/** How slowly the slowest one may be answered: the sender gives up after three seconds, and a busy machine takes its time. */
const tooSlowMsMax = 10_000;

function wayOf(random: Random): Way {
  const drawn = random();
  if (drawn < 0.6) return "whole";
  if (drawn < 0.9) return "pipelined";
  if (drawn < 0.96) return "slow";
  return drawn < 0.999 ? "cut off" : "never ends";
}

/** Of what was drawn, what can be sent on one connection. */
function together(drawn: readonly WebhookRequest[]): readonly WebhookRequest[] {
  const [first] = drawn;
  if (first?.alone === true) return [first];
  const alone = drawn.findIndex((one) => one.alone);
  const ending = drawn.findIndex(({ ends }) => ends);
  return drawn.slice(0, Math.min(alone < 0 ? drawn.length : alone, ending < 0 ? drawn.length : ending + 1));
}

export async function fuzzWebhook(options: WebhookFuzzOptions): Promise<WebhookFuzzResult> {
  const { seed, requests, say, memoryMb } = options;
  const run = begin(options);
  let baseline: Readonly<Record<string, number>> = memoryMb();
  const mark = (sent: number): void => {
    if (sent >= requests / 10 && sent < requests / 10 + pipelinedMax * inFlightMax) baseline = memoryMb();
    if (sent % 5_000 < pipelinedMax) say?.(`${sent} of ${requests} sent, ${run.violations.length} violations`);
  };
  await Promise.all(Array.from({ length: inFlightMax }, (_, worker) => run.work(worker, mark)));
  const end = memoryMb();
  const growth = Object.entries(end).map(([name, mb]) => [name, Math.round(mb - (baseline[name] ?? mb))]);
  return {
    seed,
    requests: run.sent(),
    by_status: run.byStatus,
    by_code: run.byCode,
    by_way: run.byWay,
    late: run.late(),
    violations: run.violations,
    rss_growth_mb: Object.fromEntries(growth),
  };
}

function begin({ publicUrl, funds, requests, seed, say }: WebhookFuzzOptions) {
  const { hostname, port } = new URL(publicUrl);
  const byStatus: Record<string, number> = {};
  const byCode: Record<string, number> = {};
  const byWay: Record<string, number> = {};
  const violations: { wrong: string; status: number; why: string }[] = [];
  const refusals = new Set<string>();
  let sent = 0;
  let late = 0;

  const complain = (wrong: string, status: number, why: string): void => {
    if (violations.length >= violationsMax) return;
    violations.push({ wrong, status, why });
    say?.(JSON.stringify(violations.at(-1)));
  };

  function hear(asked: WebhookRequest, answer: RawAnswer, begun: number): void {
    const { status, headers, text } = answer;
    const isLate = (status === 503 || status === 408) && performance.now() - begun >= lateMsMin;
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    const code = /"code":"([A-Z_]+)"/.exec(text)?.[1];
    if (code !== undefined) byCode[code] = (byCode[code] ?? 0) + 1;
    const shown = `${text.slice(0, 300)} for ${asked.body.toString("latin1").slice(0, 300)}`;
    if (isLate && !asked.statuses.includes(status)) late += 1;
    else if (!asked.statuses.includes(status))
      complain(asked.wrong, status, `expected ${asked.statuses.join(" or ")}: ${shown}`);
    else if (!headers["content-type"]?.startsWith("application/problem+json"))
      complain(asked.wrong, status, `no problem: ${shown}`);
    if (funds.some(({ secret }) => text.includes(secret))) complain(asked.wrong, status, "a secret is in the answer");
    if (status !== 401) return;
    const { date: _date, "x-request-id": id = "?", connection: _connection, "keep-alive": _keep, ...rest } = headers;
    refusals.add(JSON.stringify([rest, text.replaceAll(id, "ID")]));
    if (refusals.size > 1) complain(asked.wrong, status, `401 differs: ${[...refusals].join(" and ")}`);
  }

  const instead = (connection: RawConnection): Promise<RawConnection> => {
    connection.close();
    return fresh();
  };
  const fresh = (): Promise<RawConnection> => rawConnection(hostname, Number(port));

  /** Sends them at once and reads the answers in turn; whoever ends the connection is the last that is asked of it. */
  async function exchange(connection: RawConnection, batch: readonly WebhookRequest[], random: Random): Promise<void> {
    const begun = performance.now();
    await connection.write(Buffer.concat(batch.map((one) => bytesOf(one, random))));
    for (const asked of batch) {
      const answer = await connection.answer(answerMsMax);
      if (answer === undefined) {
        complain(asked.wrong, 0, `no answer, in ${batch.map(({ wrong }) => wrong).join(", ")}`);
        return connection.close();
      }
      hear(asked, answer, begun);
      if (asked.ends || answer.headers["connection"] === "close") return connection.close();
    }
  }

  async function slowly(connection: RawConnection, asked: WebhookRequest, random: Random): Promise<void> {
    const bytes = bytesOf(asked, random);
    const begun = performance.now();
    const pieces = 2 + Math.floor(random() * 6);
    for (let piece = 0; piece < pieces && connection.isOpen(); piece += 1) {
      const at = (n: number): number => Math.floor((bytes.length * n) / pieces);
      await connection.write(bytes.subarray(at(piece), at(piece + 1)));
      await sleep(Math.floor(random() * 40));
    }
    const answer = await connection.answer(answerMsMax);
    if (answer === undefined) complain(asked.wrong, 0, "no answer to a slow request");
    else hear(asked, answer, begun);
    connection.close();
  }

  /** Half of it, and then nothing: the end of the connection, or the end of our patience. */
  async function half(connection: RawConnection, asked: WebhookRequest, random: Random, isCut: boolean): Promise<void> {
    const bytes = bytesOf({ ...asked, headers: [...asked.headers], chunked: false }, random);
    await connection.write(bytes.subarray(0, Math.max(1, bytes.length - 1 - Math.floor(random() * 40))));
    if (isCut) return connection.close();
    const begun = performance.now();
    const answer = await connection.answer(answerMsMax);
    if (answer === undefined) complain("never ends", 0, "no answer");
    else hear({ ...asked, wrong: "never ends", statuses: [408] }, answer, begun);
    if (performance.now() - begun > tooSlowMsMax) complain("never ends", answer?.status ?? 0, "answered too late");
    connection.close();
  }

  async function turn(connection: RawConnection, random: Random): Promise<void> {
    const way = wayOf(random);
    const count = way === "pipelined" ? 2 + Math.floor(random() * (pipelinedMax - 1)) : 1;
    const drawn = Array.from({ length: count }, () => wrongWebhookRequest(random, funds));
    const batch = together(drawn);
    sent += batch.length;
    byWay[way] = (byWay[way] ?? 0) + batch.length;
    const [first] = batch;
    if (first === undefined) return;
    if (way === "slow") return slowly(connection, first.ends ? proved(random) : first, random);
    if (way === "cut off" || way === "never ends") return half(connection, proved(random), random, way === "cut off");
    return exchange(first.alone ? await instead(connection) : connection, batch, random);
  }

  /** One that is read to its end. */
  function proved(random: Random): WebhookRequest {
    for (;;) {
      const drawn = wrongWebhookRequest(random, [pick(random, funds)]);
      if (drawn.wrong === "secret" || drawn.wrong === "fields") return drawn;
    }
  }

  async function work(worker: number, mark: (sent: number) => void): Promise<void> {
    const random = seededRandom(seed * 1_000 + worker);
    let connection = await fresh();
    while (sent < requests) {
      if (!connection.isOpen()) connection = await fresh();
      await turn(connection, random);
      mark(sent);
    }
    connection.close();
  }

  return { work, byStatus, byCode, byWay, violations, sent: () => sent, late: () => late };
}
