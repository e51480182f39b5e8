// Puts observations beside the true ones, so that people see a watchdog fire: on the paper platform alone, recorded, and marked in everything that
// rests on them. The true records are never touched.
import { Fault } from "../../../contracts/src/fault.ts";
import type { Injections, InjectObservationsRequest } from "../../../contracts/src/generated/svc/v1/watchdogs.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { WatchdogName } from "../../../contracts/src/records/values.ts";
import type { DatabaseCare } from "../../../ports/database-care.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import type { InjectionKind, StoredInjection } from "../../../ports/watchdog-records.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { givenReason, tellAttempt } from "../worker-verbs.ts";
import type { Facts } from "./readers/facts.ts";
import type { RunningWatchdog } from "./run-watchdog.ts";

export interface InjectParts {
  readonly ports: Pick<ServicePorts, "store" | "clock">;
  readonly facts: Facts;
  readonly databaseCare: DatabaseCare;
  readonly running: readonly RunningWatchdog[];
}

const kinds: Readonly<Record<string, InjectionKind>> = {
  SKILL: "skill",
  PNL: "pnl",
  SLOW_QUERIES: "slow_queries",
  DEAD_ROWS: "dead_rows",
};

const watchedBy: Readonly<Record<InjectionKind, WatchdogName>> = {
  skill: "drift_monitor",
  pnl: "strategy_watchdog",
  slow_queries: "db_watchdog",
  dead_rows: "db_watchdog",
};

/** Enough to be above the limit of an empty table, and quick to write. */
const deadRowsMade = 5_000;

export async function inject(
  parts: InjectParts,
  request: InjectObservationsRequest,
  { identity }: RpcCall,
): Promise<Injections> {
  const { ports } = parts;
  const reason = givenReason(request.reason);
  if (reason === "") throw invalid("Nothing is injected without a reason: give one.");
  const at = ports.clock.now();
  const kind = kinds[request.kind];
  if (kind === undefined && request.kind !== "CLEAR") {
    throw invalid(
      `There is no kind ${JSON.stringify(request.kind)}; there are ${Object.keys(kinds).join(", ")}, CLEAR.`,
    );
  }
  const wanted = kind === undefined ? undefined : await readInjection(parts, kind, request, identity.actor, at);
  const target = `${request.kind} ${request.strategy_id ?? ""} ${request.z ?? ""}`.trim();
  const injections = await ports.store.transact("watchdogs.inject", async (unit) => {
    if (wanted === undefined) await unit.watchdogs.clearInjections();
    else await unit.watchdogs.putInjection(wanted);
    await tellAttempt(unit, identity, { verb: "InjectObservations", target, reason, at });
    return unit.watchdogs.injections();
  });
  if (kind === "dead_rows") await parts.databaseCare.makeDeadRows(deadRowsMade);
  const names = kind === undefined ? Object.values(watchedBy) : [watchedBy[kind]];
  // They judge at once, not in a minute; whoever asked does not wait for it.
  for (const one of parts.running) if (names.includes(one.assigned.about.name)) one.judgeSoon();
  return { injections: injections.map(shown) };
}

async function readInjection(
  { facts }: InjectParts,
  kind: InjectionKind,
  { strategy_id: strategyId, z }: InjectObservationsRequest,
  by: string,
  at: StoredInjection["at"],
): Promise<StoredInjection> {
  const funds = await facts.funds();
  if (kind === "slow_queries" || kind === "dead_rows") {
    if (funds.some(({ mode }) => mode === "LIVE"))
      throw invalid("There is a LIVE fund here: the database is not slowed down.");
    return { kind, by, at };
  }
  if (strategyId === undefined || z === undefined) throw invalid(`${kind} needs a strategy_id and a z.`);
  const fund = funds.find(({ strategies }) => strategies.includes(strategyId));
  if (fund === undefined)
    throw invalid(`There is no strategy ${JSON.stringify(strategyId)}; ctl research strategies list shows them.`);
  if (fund.mode !== "PAPER")
    throw invalid(
      `${strategyId} trades the fund ${fund.fund_id}, which is ${fund.mode}: observations are injected into PAPER funds alone.`,
    );
  return { kind, strategyId, z, by, at };
}

function shown({ kind, strategyId, z, by, at }: StoredInjection) {
  const named = Object.entries(kinds).find(([, one]) => one === kind)?.[0] ?? kind;
  return {
    kind: named,
    ...(strategyId === undefined ? {} : { strategy_id: strategyId }),
    ...(z === undefined ? {} : { z }),
    by,
    at: format(at),
  };
}

function invalid(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}
