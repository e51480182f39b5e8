// Hostile clients against a running risk engine for so many messages, with an honest client beside them. Every answer is held against what
// may be answered at most; whatever is not is a violation, reported with what was sent.
import { readFileSync } from "node:fs";
import pg from "pg";
import type { RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { RiskDecision as DecisionCodec } from "../../contracts/src/generated/svc/v1/order.ts";
import { pause, type RunningPlatform } from "../platform.ts";
import { type Prng, prng } from "../virtual/prng.ts";
import { type Delivery, type HostileCaller, hostileCaller, type Reply } from "./caller.ts";
import { type Honest, type HonestClient, openHonest } from "./honest.ts";
import { giantMessages, type HostileMessage, hostileMessage } from "./messages.ts";

export interface RoundsOptions {
  readonly platform: RunningPlatform;
  readonly seed: number;
  readonly messageCount: number;
  /** Rounds of giants, spread over the run. */
  readonly giantRounds: number;
}

export interface Verdict {
  readonly sent: number;
  /** How often what came back for each kind. */
  readonly tally: ReadonlyMap<string, number>;
  readonly approvals: number;
  readonly violations: readonly string[];
  readonly honest: Honest;
  /** Resident memory of the risk engine's process in MB, at the start and after each tenth of the run. */
  readonly residentMb: readonly number[];
}

const checkOrder = "/svc.v1.RiskEngine/CheckOrder";
const callerCount = 6;
const inFlightPerCaller = 8;
const violationsMax = 20;
/** Status numbers with which a hostile call may end: cancelled, invalid, exhausted, unimplemented, internal (of the gRPC library), too late. */
const endings: ReadonlySet<number | undefined> = new Set([undefined, 1, 3, 4, 8, 12, 13]);

export function residentMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes) / 1_024);
}

/** Events that some part of the platform could not take and put aside. */
export async function parkedCount(platform: RunningPlatform): Promise<number> {
  const { host, port, name } = platform.runFile().database;
  const options = "-c search_path=portcullis";
  const database = new pg.Client({ host, port, database: name, user: "portcullis_app", options });
  await database.connect();
  try {
    const found = await database.query("select count(*)::int as count from parked_event");
    return found.rows[0].count;
  } finally {
    await database.end();
  }
}

export async function hostileRounds(options: RoundsOptions): Promise<Verdict> {
  const { platform, seed, messageCount } = options;
  const { addresses, processes } = platform.runFile();
  const pid = processes["riskengine"] ?? 0;
  const honest: HonestClient = await openHonest(platform, `${seed}-honest`);
  const tally = new Map<string, number>();
  const violations: string[] = [];
  const memory: number[] = [residentMb(pid)];
  let sent = 0;
  let approvals = 0;

  function judge(message: HostileMessage, delivery: Delivery, reply: Reply): void {
    const { outcome, approved, violation } = judgement(message, delivery, reply);
    const name = `${message.kind}, ${delivery}: ${outcome}`;
    tally.set(name, (tally.get(name) ?? 0) + 1);
    if (approved) approvals += 1;
    if (violation !== undefined && violations.length < violationsMax) {
      violations.push(`${violation}: ${name}; ${message.frame.subarray(0, 300).toString("base64")}`);
    }
  }

  async function send(caller: HostileCaller, message: HostileMessage, delivery: Delivery): Promise<void> {
    sent += 1;
    if (sent % Math.ceil(messageCount / 10) === 0) memory.push(residentMb(pid));
    try {
      const { frame, encoding } = message;
      judge(message, delivery, await caller.send({ path: checkOrder, frame, delivery, encoding }));
    } catch (thrown) {
      violations.push(`${String(thrown)}: ${message.kind}, ${delivery}`);
    }
  }

  async function work(caller: HostileCaller, own: Prng, name: string): Promise<void> {
    for (let count = 0; sent < messageCount && violations.length < violationsMax; count += 1) {
      const message = hostileMessage(own, `${seed}-${name}-${count}`);
      await send(caller, message, deliveryOf(own, message));
    }
  }

  const workGiants = async (caller: HostileCaller): Promise<void> => {
    for (let round = 0; round < options.giantRounds; round += 1) {
      while (sent < (messageCount * round) / options.giantRounds && violations.length < violationsMax) await pause(50);
      for (const message of giantMessages(`${seed}-giant-${round}`)) await send(caller, message, "at once");
    }
  };

  const all = prng(seed);
  const callers = Array.from({ length: callerCount + 1 }, (_, at) =>
    hostileCaller(addresses["riskengine"] ?? "", honest.serviceToken, all.fork(`caller ${at}`)),
  );
  const [giant, ...others] = callers;
  const working = others.flatMap((caller, at) =>
    Array.from({ length: inFlightPerCaller }, (_, lane) => work(caller, all.fork(`${at}/${lane}`), `${at}-${lane}`)),
  );
  if (giant !== undefined) working.push(workGiants(giant));
  try {
    await Promise.all(working);
    return { sent, tally, approvals, violations, honest: await honest.stop(), residentMb: memory };
  } finally {
    await honest.stop();
    for (const caller of callers) caller.close();
  }
}

function deliveryOf(own: Prng, { frame }: HostileMessage): Delivery {
  const thrown = own.below(1_000);
  if (thrown < 700) return "at once";
  if (thrown < 850) return "in pieces";
  if (thrown < 880) return frame.length <= 400 ? "byte by byte" : "in pieces";
  if (thrown < 940) return "reset half way";
  if (thrown < 990) return "never finished";
  return "hung up";
}

interface Judgement {
  readonly outcome: string;
  readonly approved: boolean;
  readonly violation: string | undefined;
}

function judgement(message: HostileMessage, delivery: Delivery, reply: Reply): Judgement {
  const { status, details, body } = reply;
  const finished = delivery === "at once" || delivery === "in pieces" || delivery === "byte by byte";
  if (status !== 0) {
    const outcome = `status ${status ?? "none"}`;
    const inside = details.startsWith("Internal error");
    const unknown = !endings.has(status);
    // A caller that sends to the end is told something, unless another call hung up the line that they share.
    const silent = finished && status === undefined && !reply.isCutOff;
    const violation = inside || unknown ? `it failed inside (${details})` : silent ? "no answer at all" : undefined;
    return { outcome, approved: false, violation };
  }
  const decision = decisionIn(body);
  if (decision === undefined) return { outcome: "nothing", approved: false, violation: "OK without a decision" };
  const outcome = decision.approved ? "approved" : `denied by ${decision.rejecting_gate}`;
  const isSchema = decision.rejecting_gate === "schema" || decision.rejecting_gate === "idempotency";
  const violation = !finished
    ? "an answer to half a request"
    : message.allowed === "no decision"
      ? "a decision about what is no message"
      : message.allowed === "schema" && !isSchema
        ? "a decision about what is no order"
        : undefined;
  return { outcome, approved: decision.approved, violation };
}

function decisionIn(body: Buffer): RiskDecision | undefined {
  if (body.length < 5 || body.readUInt8(0) !== 0 || body.readUInt32BE(1) !== body.length - 5) return undefined;
  return DecisionCodec.decode(body.subarray(5));
}
