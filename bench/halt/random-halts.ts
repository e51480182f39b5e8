// Halts at random moments while orders flow: the risk engine and the halt manager on one PostgreSQL database, orders without a pause, and halters who
// halt any scope through either service, as machines and as people, and lift again. What happened is in the database; who calls this compares it.

import type { DatabaseAddress } from "../../adapters/postgres/connection.ts";
import { HaltRequest, type HaltResponse, ResumeRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Identity } from "../../ports/identity.ts";
import type { HaltsConfirmer } from "../../ports/peers.ts";
import type { EncodedAnswer, RpcCall, UnaryHandler } from "../../ports/rpc.ts";
import { createInProcessPeers } from "../../testkit/memory/in-process-peers.ts";
import { benchTools } from "../bus/ticket.ts";
import { prng } from "../check-order/check-order-generator.ts";
import { fundCount, fundOf, orderFrame } from "../check-order/orders.ts";
import { buys, strategyOf } from "./halt-orders.ts";
import { type HaltProcess, layHaltFixture, startEngineProcess, startManagerProcess } from "./processes.ts";

export interface RandomHaltsOptions {
  readonly database: DatabaseAddress;
  readonly seed: number;
  readonly halts: number;
  /** Who halt and lift at the same time. */
  readonly halters: number;
  /** Orders under way at once. */
  readonly traders: number;
  /** A fault to be found: the manager is told that the engine blocks, while the engine has not been asked and hears of it later by itself. */
  readonly planted?: "confirmed unasked";
}

export interface RandomHaltsDone {
  /** By service and level. */
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly lifts: number;
  readonly orders: number;
  /** Orders that were sent after a halt of their scope was acknowledged, and approved before anybody asked for a lift. */
  readonly approvedAfterwards: number;
}

const empty = new Uint8Array();
const patienceMs = 20_000;

const machine = { kind: "service", actor: "service:oms", name: "oms", subject: "oms", roles: ["service"] };
const person = (name: string) => ({
  kind: "operator",
  actor: `operator:${name}`,
  name,
  subject: name,
  roles: ["operator"],
});
const [duty, relief] = [person("duty"), person("relief")];

type Door = (service: "RiskEngine" | "Operations", method: string, message: object, who: object) => Promise<unknown>;

interface Tables {
  readonly ask: Door;
  readonly roll: () => number;
  readonly acknowledged: Record<string, number>;
  readonly counts: { begun: number; lifts: number; orders: number; approvedAfterwards: number };
  /** Acknowledged, and nobody has asked for a lift yet; the fund is -1 for the firm. */
  readonly holding: Set<{ readonly level: HaltRequest["severity"]; readonly fund: number }>;
}

export async function haltAtRandom(options: RandomHaltsOptions): Promise<RandomHaltsDone> {
  await layHaltFixture(options.database);
  const place = { database: options.database };
  const engine = await startEngineProcess(place);
  const peers = createInProcessPeers({
    timers: benchTools().timers,
    identity: machine as unknown as Identity,
    find: (name) => (name === "RiskEngine" ? { name, handlers: engine.handlers } : undefined),
    answerMsMax: 6_000,
  });
  let manager: HaltProcess | undefined;
  try {
    const liar: HaltsConfirmer = {
      announce: async () => undefined,
      confirm: async (epoch) => ({ incarnation: "liar", epoch }),
    };
    manager = await startManagerProcess(place, options.planted === undefined ? peers.haltsConfirmer : liar);
    const parts = { RiskEngine: engine, Operations: manager };
    const tables: Tables = {
      ask: (service, method, message, who) => call(parts[service].handlers[method], message, who),
      roll: prng(options.seed),
      acknowledged: {},
      counts: { begun: 0, lifts: 0, orders: 0, approvedAfterwards: 0 },
      holding: new Set(),
    };
    await untilApproved(tables);
    let isOver = false;
    const trading = Promise.all(
      Array.from({ length: options.traders }, async () => {
        while (!isOver) await trade(tables);
      }),
    );
    await Promise.all(Array.from({ length: options.halters }, () => keepHalting(tables, options.halts))).finally(() => {
      isOver = true;
    });
    await trading;
    const { begun: _begun, ...counts } = tables.counts;
    return { acknowledged: tables.acknowledged, ...counts };
  } finally {
    await manager?.close();
    await engine.close();
  }
}

function call(handler: UnaryHandler | undefined, message: object, who: object): Promise<unknown> {
  if (handler === undefined) throw new Error("there is no such procedure");
  const isOrder = "idempotency_key" in message;
  const rpc: RpcCall = {
    requestId: "random halts",
    identity: who as Identity,
    signal: new AbortController().signal,
    isGone: () => false,
    requestBytes: isOrder ? Order.encode(message as Order).finish() : empty,
  };
  return handler(message as never, rpc);
}

async function trade({ ask, roll, counts, holding }: Tables): Promise<RiskDecision> {
  counts.orders += 1;
  const fund = Math.floor(roll() * fundCount);
  const covering = [...holding].filter((halt) => halt.fund === -1 || halt.fund === fund);
  const kind = buys[fund];
  if (kind === undefined) throw new RangeError("there is no such fund");
  const order = Order.decode(orderFrame(kind, counts.orders).subarray(5));
  const { encoded } = (await ask("RiskEngine", "CheckOrder", order, machine)) as EncodedAnswer;
  const decision = RiskDecision.decode(encoded);
  if (decision.approved && covering.some((halt) => holding.has(halt))) counts.approvedAfterwards += 1;
  await pause(roll() * 4);
  return decision;
}

/** The first price may be a moment away. */
async function untilApproved(tables: Tables): Promise<void> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const { approved, code } = await trade(tables);
    if (approved) return;
    if (performance.now() > endMs) throw new Error(`no order is approved: ${code}`);
  }
}

async function keepHalting(tables: Tables, count: number): Promise<void> {
  while (tables.counts.begun < count) {
    tables.counts.begun += 1;
    await pause(tables.roll() * 40);
    await haltOnce(tables);
  }
}

async function haltOnce(tables: Tables): Promise<void> {
  const { ask, roll, acknowledged } = tables;
  const fund = Math.floor(roll() * fundCount);
  const level = roll() < 0.05 ? "FIRM_HALT" : roll() < 0.5 ? "FUND_HALT" : "STRATEGY_HALT";
  const door = roll() < 0.5 ? "RiskEngine" : "Operations";
  const who = roll() < 0.5 ? machine : duty;
  const answer = (await ask(door, "RequestHalt", requestOf(level, fund), who)) as HaltResponse;
  if (answer.acknowledged !== true) throw new Error(`a halt was not acknowledged: ${JSON.stringify(answer)}`);
  const name = `${door} ${level}`;
  acknowledged[name] = (acknowledged[name] ?? 0) + 1;
  tables.holding.add({ level, fund: level === "FIRM_HALT" ? -1 : fund });
  await pause(roll() * 15);
  await (level === "FIRM_HALT" ? liftAll(tables) : lift(tables, level, fund));
}

function requestOf(severity: "FIRM_HALT" | "FUND_HALT" | "STRATEGY_HALT", fund: number): HaltRequest {
  const scope = {
    FIRM_HALT: { fund_id: "" },
    FUND_HALT: { fund_id: fundOf(fund) },
    STRATEGY_HALT: { fund_id: fundOf(fund), strategy_id: strategyOf(fund) },
  }[severity];
  return { ...HaltRequest.decode(empty), severity, ...scope, reason: "", confirmation: "HALT" };
}

/** One operator lifts what is on the scope; whoever lifted everything in between has done it already. */
async function lift(
  { ask, roll, counts, holding }: Tables,
  level: "FUND_HALT" | "STRATEGY_HALT",
  fund: number,
): Promise<void> {
  const scope = level === "FUND_HALT" ? { fund_id: fundOf(fund) } : { strategy_id: strategyOf(fund) };
  const door = roll() < 0.5 ? "RiskEngine" : "Operations";
  for (const halt of holding) if (halt.level === level && halt.fund === fund) holding.delete(halt);
  const answer = await ask(door, "ResumeHalt", resumeOf({ ...scope, reason: "seen" }), duty);
  const code = denialOf(answer);
  if (code === undefined) counts.lifts += 1;
  else if (code !== "HALT_NOT_ACTIVE") throw new Error(`a halt could not be lifted: ${JSON.stringify(answer)}`);
}

/** Two operators lift everything; a halt or a lift in between voids the request, and they begin again. */
async function liftAll({ ask, counts, holding }: Tables): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const asked = await ask("Operations", "ResumeHalt", resumeOf({ reason: "all clear", one_time_code: "1" }), duty);
    if (denialOf(asked) === "HALT_NOT_ACTIVE") return;
    if (denialOf(asked) === "RESUME_REQUEST_VOID") continue;
    const request_id = (asked as { readonly request_id?: string }).request_id;
    if (request_id === undefined) throw new Error(`a lift could not be asked for: ${JSON.stringify(asked)}`);
    holding.clear();
    const signed = await ask("Operations", "ResumeHalt", resumeOf({ request_id, one_time_code: "1" }), relief);
    const code = denialOf(signed);
    if (code === undefined) {
      counts.lifts += 1;
      return;
    }
    if (code !== "RESUME_REQUEST_VOID" && code !== "RESUME_REQUEST_UNKNOWN") {
      throw new Error(`a lift could not be signed: ${JSON.stringify(signed)}`);
    }
  }
  throw new Error("halts changed under every request to lift them all");
}

function resumeOf(given: Partial<ResumeRequest>): ResumeRequest {
  return { ...ResumeRequest.decode(empty), confirmation: "RESUME", ...given };
}

function denialOf(answer: unknown): string | undefined {
  const { denial } = answer as { readonly denial?: { readonly code: string } };
  return denial?.code;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
