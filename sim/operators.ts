// Who watches over the platform in a simulated run: two operators who change limits, halt, resume and sign what the other one asked for, through
// both services that take it, and who make every mistake that the resume workflow knows. They ask over the same bad network links as everybody.

import type { HaltStatus } from "../contracts/src/generated/svc/v1/halt.ts";
import { plusMilliseconds } from "../contracts/src/instant.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import { envelopeMessage } from "../core/envelope/envelope.ts";
import { envelopeAction } from "../services/riskengine/envelope-proof.ts";
import { memoryCode } from "../testkit/memory/one-time-codes.ts";
import { giveProof } from "../testkit/memory/units/step-up.ts";
import type { Prng } from "../testkit/virtual/prng.ts";
import { envelopeKey } from "./history.ts";
import { insist, one, type PeopleParts } from "./people.ts";
import { operatorIdentity, operatorNames, type Platform, serviceIdentity } from "./platform.ts";

type Name = (typeof operatorNames)[number];

export interface OperatorsOptions {
  readonly everyMs: number;
  /** The fund that may lose next to nothing in this run, if there is one. */
  readonly thinFund: string | undefined;
}

/** What the two of them know together. */
interface Shared {
  readonly parts: PeopleParts;
  readonly prng: Prng;
  /** Requests to lift everything, the newest last. */
  readonly requests: { readonly id: string; readonly by: Name }[];
  /** Codes that each of them has shown already: none is taken twice. */
  readonly shown: Map<Name, number>;
  halts: number;
}

const strategies = ["alpha-momentum", "alpha-meanrev", "beta-trend", "gamma-income"];
export const funds = ["alpha", "beta", "gamma"];
/** Symbols of each fund that the market can jump with. */
export const symbolsOf: Readonly<Record<string, readonly string[]>> = {
  alpha: ["AAPL", "XOM"],
  beta: ["BTC-USD", "ETH-USD"],
  gamma: ["SPY"],
};
const haltServices = ["Operations", "RiskEngine"];

/** Both of them, until the faults end. */
export function operators(parts: PeopleParts, { everyMs, thinFund }: OperatorsOptions): void {
  const prng = parts.time.prng.fork("operators");
  const shared: Shared = { parts, prng, requests: [], shown: new Map(), halts: 0 };
  for (const name of operatorNames) void work(shared, name, everyMs, thinFund);
}

async function work(shared: Shared, name: Name, everyMs: number, thinFund: string | undefined): Promise<void> {
  const { parts, prng } = shared;
  while (!parts.isStopping()) {
    await parts.time.timers.sleep(1 + prng.below(2 * everyMs));
    if (parts.isStopping()) return;
    const thrown = prng.below(100);
    if (thrown < 26) void halt(shared, name);
    else if (thrown < 50) void changeLimits(parts, name, oneLimit(prng, thinFund));
    else if (thrown < 53) void insist(parts, askAs(shared, name), "Oms", "CancelAll", cancelling);
    else if (thrown < 80) void resume(shared, name);
    else if (thrown < 95) void askForEverything(shared, name);
    else void sign(shared, name, shared.requests.at(prng.chance(0.5) ? -1 : 0)?.id);
  }
}

const cancelling = { confirmation: "CANCEL", reason: "drill" };

function askAs({ parts }: Shared, name: Name) {
  return parts.platform.ask(operatorIdentity(name));
}

async function halt(shared: Shared, name: Name): Promise<void> {
  const { prng, parts } = shared;
  shared.halts += 1;
  const level = prng.below(10);
  const scope =
    level < 6
      ? { severity: "STRATEGY_HALT", fund_id: "", strategy_id: one(prng, strategies) }
      : level < 9
        ? { severity: "FUND_HALT", fund_id: one(prng, funds) }
        : { severity: "FIRM_HALT", fund_id: "" };
  const request = {
    ...scope,
    halt_id: `halt-${shared.halts}`,
    reason: prng.chance(0.8) ? "drill" : "",
    requested_by: `operator:${name}`,
    confirmation: prng.chance(0.95) ? "HALT" : "halt",
  };
  await insist(parts, askAs(shared, name), one(prng, haltServices), "RequestHalt", request);
}

/** What most requests to lift say, and now and then what none may. */
function words({ prng }: Shared, name: Name): Record<string, unknown> {
  const mistake = prng.below(100);
  return {
    confirmation: mistake < 4 ? "YES" : "RESUME",
    reason: mistake >= 4 && mistake < 8 ? "" : "it is understood",
    ...(mistake >= 8 && mistake < 12 && { cosigned_by: `operator:${name === "duty" ? "relief" : "duty"}` }),
    ...(mistake >= 12 && mistake < 30 && { cosigned_by: `operator:${name}` }),
    halt_ids: mistake >= 30 && mistake < 33 ? ["halt-1"] : [],
    rebase: prng.chance(0.3),
  };
}

/** Those of the last half minute, of this one and of the next are good, each once; sometimes a wrong one, one that was shown before, or none. */
function code({ prng, parts, shown }: Shared, name: Name): Record<string, unknown> {
  const mistake = prng.below(100);
  if (mistake < 4) return {};
  if (mistake < 8) return { one_time_code: "12" };
  const before = shown.get(name) ?? 0;
  if (mistake >= 14) shown.set(name, before + 1);
  const at = plusMilliseconds(parts.time.clock.now(), (before - 1) * 30_000);
  return { one_time_code: memoryCode(operatorIdentity(name).subject, at) };
}

/** One scope, most often one that is halted; now and then it is a machine that asks. */
async function resume(shared: Shared, name: Name): Promise<void> {
  const { prng, parts } = shared;
  const inForce = parts.platform.tables.risk.halts.filter(({ severity }) => severity !== "FIRM_HALT");
  const chosen = inForce.length > 0 && prng.chance(0.9) ? one(prng, inForce) : undefined;
  const scope =
    chosen?.severity === "STRATEGY_HALT"
      ? { strategy_id: chosen.strategy_id ?? "" }
      : { fund_id: chosen?.fund_id ?? one(prng, funds) };
  const ask = prng.chance(0.06) ? parts.platform.ask(serviceIdentity("research")) : askAs(shared, name);
  const said = words(shared, name);
  const asked = { ...scope, ...said, ...(said["rebase"] === true && code(shared, name)) };
  await insist(parts, ask, one(prng, haltServices), "ResumeHalt", asked);
}

async function askForEverything(shared: Shared, name: Name): Promise<void> {
  const { prng, parts, requests } = shared;
  const asked = { ...words(shared, name), ...code(shared, name) };
  const answer = await insist(parts, askAs(shared, name), one(prng, haltServices), "ResumeHalt", asked);
  const { request_id: id } = (answer ?? {}) as Partial<HaltStatus>;
  if (id === undefined) return;
  requests.push({ id, by: name });
  await parts.time.timers.sleep(prng.below(30));
  if (prng.chance(0.85) && !parts.isStopping()) await sign(shared, name === "duty" ? "relief" : "duty", id);
}

/** Also one's own, and one that is over. */
async function sign(shared: Shared, name: Name, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  const asked = { request_id: id, ...words(shared, name), ...code(shared, name) };
  await insist(shared.parts, askAs(shared, name), one(shared.prng, haltServices), "ResumeHalt", asked);
}

export interface LimitChange {
  readonly fundId: string;
  readonly limits: Partial<RiskEnvelope>;
}

function oneLimit(prng: Prng, thinFund: string | undefined): LimitChange {
  const fundId = one(prng, funds);
  return {
    fundId,
    limits: {
      max_position_pct: (4 + prng.below(12)) / 100,
      synthetic_stop_pct: (2 + prng.below(9)) / 100,
      halt_allow_reduce_only: prng.chance(0.85),
      ...(fundId === thinFund && thinLimits(prng)),
    },
  };
}

/** Limits that a fund reaches when one of its prices jumps. */
export function thinLimits(prng: Prng): Partial<RiskEnvelope> {
  const daily = (1 + prng.below(20)) / 10_000;
  return {
    daily_loss_halt_pct: daily,
    weekly_loss_halt_pct: 2 * daily,
    monthly_loss_halt_pct: 3 * daily,
    strategy_loss_halt_pct: 2 * daily,
  };
}

export async function changeLimits(parts: PeopleParts, name: Name, { fundId, limits }: LimitChange): Promise<void> {
  const { platform, promises } = parts;
  const before = newest(platform, fundId);
  if (before === undefined) return;
  const { hash: _hash, updated_by: _by, updated_at: _at, reason: _reason, loosening: _loosening, ...kept } = before;
  const next: RiskEnvelope = { ...kept, ...limits, version: before.version + 1 };
  const request = { ...envelopeMessage(next), reason: "review" };
  const identity = operatorIdentity(name);
  const at = parts.time.clock.now();
  const proof = giveProof(platform.tables.stepUps, { identity, named: envelopeAction(request), at });
  const answer = await insist(parts, platform.ask(identity, proof), "RiskEngine", "UpdateEnvelope", request);
  if (answer !== undefined) promises.envelopes.add(envelopeKey(fundId, next.version));
}

function newest({ tables }: Platform, fundId: string): RiskEnvelope | undefined {
  const versions = tables.risk.envelopes.get(fundId) ?? [];
  return versions.reduce<RiskEnvelope | undefined>(
    (best, each) => ((best?.version ?? 0) < each.version ? each : best),
    undefined,
  );
}
