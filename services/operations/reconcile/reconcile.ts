// The broker-exit reconciler: compares every account with our own books, tells of what differs, and asks again soon when something does. One look at a
// time, whoever asks.
import { Fault } from "../../../contracts/src/fault.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { FundReference } from "../../../contracts/src/records/reference.ts";
import type { Broker } from "../../../ports/broker.ts";
import type { Health } from "../../../ports/health.ts";
import type { OrderManagement } from "../../../ports/peers.ts";
import type { StoredDifference } from "../../../ports/reconcile-records.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { correct } from "./correct.ts";
import { type AccountFacts, gatherAccount } from "./gather-account.ts";
import type { Looked } from "./looked.ts";
import { createProveFlat } from "./prove-flat.ts";
import { reconcileQueries } from "./reconcile-queries.ts";
import { recordLook } from "./record-look.ts";

/** Quotes, orders and seeds settle in the first seconds. */
const firstLookMs = 5_000;
/** While a platform starts, a broker that has not answered yet may only not have begun. */
const beginningMsMax = 60_000;
/** A broker that does not answer is asked again at least this often. */
const silentEveryMs = 15_000;
/** So many looks in a row may find our own books behind the broker's reports; the last of them compares all the same. */
const behindLooksMax = 3;

interface ReconcileOptions {
  readonly ports: Pick<
    ServicePorts,
    "store" | "clock" | "timers" | "random" | "log" | "crash" | "referenceData" | "settings" | "sha256"
  >;
  readonly broker: Broker;
  readonly orderManagement: OrderManagement;
  readonly alarms: WorkerAlarms;
}

interface RunningReconciler {
  readonly handlers: Pick<RpcService["handlers"], "Reconcile" | "ListDifferences" | "ProveFlat">;
  health(): Health;
  stop(): Promise<void>;
}

export function startReconciler(options: ReconcileOptions): RunningReconciler {
  const { ports, broker } = options;
  const { enabled, everyMs, confirmAfterMs } = ports.settings.reconcile;
  const startedAt = ports.clock.now();
  const answered = new Set<string>();
  const behind = new Map<string, number>();
  const mayBeBeginning = (fundId: string): boolean =>
    !answered.has(fundId) && millisecondsBetween(startedAt, ports.clock.now()) < beginningMsMax;
  let last: Promise<unknown> = Promise.resolve();

  /** Funds whose account is with this broker: the paper broker has those that trade paper. */
  async function funds(): Promise<readonly FundReference[]> {
    const reference = await ports.referenceData.read();
    return reference.funds.filter(({ mode }) => (mode === "PAPER") === (broker.name === "paper"));
  }

  function look(fundId?: string): Promise<Looked> {
    const turn = last.then(async () => {
      const all = await funds();
      const chosen = all.filter((fund) => fundId === undefined || fund.fund_id === fundId);
      const looked = await lookAtAll({ ...options, mayBeBeginning, behind }, chosen);
      for (const account of looked.compared) answered.add(account);
      return looked;
    });
    last = turn.catch(() => undefined);
    return turn;
  }

  async function mustKnowFund(fundId: string): Promise<void> {
    if ((await funds()).some((fund) => fund.fund_id === fundId)) return;
    const shown = JSON.stringify(fundId.slice(0, 128));
    throw new Fault("NOT_FOUND", `There is no fund ${shown} with an account at ${broker.name}.`, { retry: "never" });
  }

  async function run(): Promise<number> {
    const { isUnsettled, unanswered } = await look();
    if (isUnsettled) return Math.min(confirmAfterMs, everyMs);
    return unanswered.length > 0 ? Math.min(silentEveryMs, everyMs) : everyMs;
  }

  const loop = enabled
    ? startLoop({ ports, what: "the reconciler", firstAfterMs: Math.min(firstLookMs, everyMs), run })
    : undefined;
  if (!enabled) ports.log.warn("the broker-exit reconciler is switched off");
  return {
    handlers: {
      ...reconcileQueries({
        ports,
        mustKnowFund,
        look: async (fundId) => {
          const looked = await look(fundId);
          if (looked.isUnsettled) loop?.hurry(confirmAfterMs);
          return looked;
        },
      }),
      ProveFlat: createProveFlat({ ...ports, broker }, mustKnowFund),
    },
    health: () =>
      enabled ? { status: "ok" } : { status: "ok", complaint: "The broker-exit reconciler is switched off." },
    stop: async () => {
      await loop?.stop();
      await last;
    },
  };
}

interface LookOptions extends ReconcileOptions {
  readonly mayBeBeginning: (fundId: string) => boolean;
  /** How many looks in a row found our own books behind, by fund. */
  readonly behind: Map<string, number>;
}

async function lookAtAll(options: LookOptions, funds: readonly FundReference[]): Promise<Looked> {
  const compared: string[] = [];
  const unanswered: { account: string; why: string }[] = [];
  const differences: StoredDifference[] = [];
  let symbols = 0;
  let isUnsettled = false;
  for (const fund of funds) {
    const looked = await lookAtOne(options, fund);
    if ("why" in looked) {
      unanswered.push({ account: fund.fund_id, why: looked.why });
      isUnsettled ||= looked.isBehind === true;
      continue;
    }
    compared.push(fund.fund_id);
    differences.push(...looked.differences);
    symbols += looked.symbols;
    isUnsettled ||= looked.isUnsettled;
  }
  return { compared, unanswered, symbols, differences, isUnsettled };
}

async function lookAtOne(
  options: LookOptions,
  { fund_id: fundId, strategies }: FundReference,
): Promise<{ readonly why: string; readonly isBehind?: true } | Omit<Looked, "compared" | "unanswered">> {
  const { ports, broker, orderManagement, alarms, mayBeBeginning } = options;
  const gathered = await gatherAccount({ ...ports, broker }, fundId);
  if ("unanswered" in gathered) {
    const { unanswered: why } = gathered;
    if (mayBeBeginning(fundId)) return { why };
    const sentence = `${broker.name} gives no complete answer about ${fundId}: ${why}`;
    await alarms.raise("BROKER_SILENT", `${broker.name} ${fundId}`, sentence, { account: fundId, broker: broker.name });
    return { why };
  }
  alarms.clear("BROKER_SILENT", `${broker.name} ${fundId}`);
  const { facts } = gathered;
  const why = await whyNotYet(options, fundId, facts);
  if (why !== undefined) return { why, isBehind: true };
  const looked = await ports.store.transact("reconcile.look", (unit) =>
    recordLook(unit, { ports, fundId, broker: broker.name, facts }),
  );
  const symbols = new Set([...facts.ours.keys(), ...facts.brokers.keys()]).size;
  let isCorrected = false;
  if (ports.settings.reconcile.autoCorrect) {
    const correcting = { ports, orderManagement, facts, firstStrategyId: strategies[0] ?? "" };
    for (const difference of looked.correctable) isCorrected = (await correct(correcting, difference)) || isCorrected;
  }
  for (const { symbol, status, class: kind, evidence } of looked.differences) {
    ports.log.warn("our position and the broker's differ, or did", {
      fund: fundId,
      symbol,
      status,
      class: kind,
      evidence,
    });
  }
  return { differences: looked.differences, symbols, isUnsettled: looked.hasSuspected || isCorrected };
}

/** Books that have not read what the broker's answer rests on differ from it for no other reason: they get some more looks to catch up. */
async function whyNotYet(
  { broker, alarms, behind }: LookOptions,
  fundId: string,
  { isCaughtUp, ownCursor, cursor }: AccountFacts,
): Promise<string | undefined> {
  if (isCaughtUp) {
    behind.delete(fundId);
    alarms.clear("RECONCILE_STUCK", broker.name);
    return undefined;
  }
  const looks = (behind.get(fundId) ?? 0) + 1;
  behind.set(fundId, looks);
  const why = `our own books stand at report ${ownCursor} of ${broker.name}, its answer at ${cursor}`;
  if (looks < behindLooksMax) return why;
  // Reports are numbered over all accounts, so that this holds for all of them at once.
  const sentence = `Accounts are compared although ${why} after ${looks} looks.`;
  await alarms.raise("RECONCILE_STUCK", broker.name, sentence, { broker: broker.name });
  return undefined;
}
