// Research's procedures: the strategies with what they do and how well, a change of one, its backtest, and its signals.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type {
  Backtest,
  GetBacktestRequest,
  ListSignalsRequest,
  ListStrategiesRequest,
  SetStrategyRequest,
  Signals,
  Strategies,
  Strategy as StrategyMessage,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant, tryParse } from "../../contracts/src/instant.ts";
import { reasonText } from "../../contracts/src/records/fields.ts";
import { type StrategyStatus, strategyStatus } from "../../contracts/src/records/values.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type EffectiveStrategy, effectiveStrategy } from "../../core/blocks/effective-strategy.ts";
import { mean } from "../../core/stats/moments.ts";
import { strategyByName } from "../../core/strategies/index.ts";
import type { StoredStrategy } from "../../ports/research-records.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { mustKnowFund } from "../shared/must-know-fund.ts";
import type { ServicePorts } from "../shared/service.ts";

type StrategyPorts = Pick<ServicePorts, "clock" | "store" | "riskStore" | "referenceData">;

/** One more than a page of HTTP, which tells whether there is another. */
const signalsMax = 1_001;
const signalsByDefault = 100;
/** Days of live skill that the mean is over. */
const skillDaysMax = 60;

export async function listStrategies(request: ListStrategiesRequest, ports: StrategyPorts): Promise<Strategies> {
  const navs = await ports.riskStore.navs();
  const profits: Readonly<Record<string, string>> = Object.assign({}, ...navs.map(({ strategy_pnl }) => strategy_pnl));
  const listed = await ports.store.transact("research.look", async (unit) => {
    const all = (await unit.research.strategies()).filter(
      ({ fundId }) => request.fund_id === undefined || request.fund_id === fundId,
    );
    const restrictions = await unit.restrictions.listOpen();
    const shown: StrategyMessage[] = [];
    for (const stored of all) {
      shown.push(
        await shownStrategy(unit, stored, effectiveStrategy(stored, restrictions), profits[stored.strategyId]),
      );
    }
    return shown;
  });
  if (listed.length === 0) await mustKnowFund(ports, request.fund_id);
  return { strategies: listed };
}

async function shownStrategy(
  unit: UnitOfWork,
  { strategyId, fundId, status, allocationPct }: StoredStrategy,
  effective: EffectiveStrategy,
  pnl: string | undefined,
): Promise<StrategyMessage> {
  const [newest] = await unit.research.signals(strategyId, 1);
  const backtest = await unit.research.backtest(strategyId);
  const past = mean(
    (backtest?.days ?? []).flatMap(({ informationCoefficient: one }) => (one === undefined ? [] : [one])),
  );
  const live = mean((await unit.research.skill(strategyId, skillDaysMax)).map((day) => day.mean));
  return {
    strategy_id: strategyId,
    fund_id: fundId,
    status: effective.status,
    allocation_pct: effective.allocationPct,
    base_status: status,
    base_allocation_pct: allocationPct,
    restriction_ids: [...effective.restrictionIds],
    sentence: strategyByName(strategyId)?.sentence ?? "",
    ...(pnl === undefined ? {} : { pnl }),
    ...(newest === undefined ? {} : { last_signal_at: format(newest.at) }),
    ...(past === null ? {} : { backtest_ic_mean: past }),
    ...(live === null ? {} : { live_ic_mean: live }),
  };
}

export async function setStrategy(
  request: SetStrategyRequest,
  call: Pick<RpcCall, "identity">,
  ports: StrategyPorts,
): Promise<StrategyMessage | DeniedAnswer> {
  const reason = request.reason.trim();
  if (reason === "") return denied("REASON_MISSING", "A strategy is not changed without a reason.");
  if (!reasonText.safeParse(reason).success) {
    throw invalid("the reason is longer than 2000 characters or has control characters in it");
  }
  const status = request.status === undefined ? undefined : statusOf(request.status);
  const allocation = request.allocation_pct;
  if (allocation !== undefined && !(allocation >= 0 && allocation <= 1)) {
    throw invalid("allocation_pct is a fraction from 0 to 1");
  }
  if (status === undefined && allocation === undefined) throw invalid("neither a status nor an allocation was given");
  await ports.store.transact("research.strategy", async (unit) => {
    const known = await unit.research.lockStrategy(request.strategy_id);
    if (known === undefined) throw unknown(request.strategy_id);
    const changed = { ...known, status: status ?? known.status, allocationPct: allocation ?? known.allocationPct };
    await unit.research.putStrategy(changed);
    await unit.events.publish(subjects.strategyChanged, {
      strategy_id: changed.strategyId,
      fund_id: changed.fundId,
      status: changed.status,
      allocation_pct: changed.allocationPct,
      changed_by: call.identity.actor,
      reason,
      at: format(ports.clock.now()),
    });
  });
  const { strategies } = await listStrategies({}, ports);
  const shown = strategies.find(({ strategy_id }) => strategy_id === request.strategy_id);
  if (shown === undefined) throw unknown(request.strategy_id);
  return shown;
}

export async function getBacktest({ strategy_id: id }: GetBacktestRequest, ports: StrategyPorts): Promise<Backtest> {
  const found = await ports.store.transact("research.look", (unit) => unit.research.backtest(id));
  if (found === undefined) {
    if (strategyByName(id) === undefined) throw unknown(id);
    const sentence = `the backtest of ${id} is being made; ask again in a minute`;
    throw new Fault("SERVICE_UNAVAILABLE", sentence, { retry: "later" });
  }
  return {
    strategy_id: id,
    from: found.from,
    to: found.to,
    days: found.days.map(({ day, informationCoefficient, signals = [], ...figures }) => ({
      day,
      return: figures.return,
      ...(informationCoefficient === undefined ? {} : { information_coefficient: informationCoefficient }),
      signals: signals.map(({ symbol, value }) => ({ symbol, value })),
    })),
    annual_return: found.annualReturn,
    annual_volatility: found.annualVolatility,
    // The message has no way to say "none": a strategy that never moved has no ratio, and shows zero beside a volatility of zero.
    sharpe: found.sharpe ?? 0,
    max_drawdown: found.drawdownMax,
  };
}

export async function listSignals(request: ListSignalsRequest, ports: StrategyPorts): Promise<Signals> {
  const countMax = request.count_max === 0 ? signalsByDefault : Math.min(request.count_max, signalsMax);
  const after = request.after_signal === undefined ? undefined : signalMark(request.after_signal);
  const found = await ports.store.transact("research.look", (unit) =>
    unit.research.signals(request.strategy_id, countMax, after),
  );
  return {
    signals: found.map(({ strategyId, symbol, value, at, realisedReturn, horizonS }) => ({
      strategy_id: strategyId,
      symbol,
      value,
      at: format(at),
      ...(realisedReturn === undefined ? {} : { realised_return: realisedReturn }),
      horizon_s: horizonS,
    })),
  };
}

/** A moment and a symbol, with a slash between them. */
function signalMark(text: string): { readonly at: Instant; readonly symbol: string } {
  const slash = text.indexOf("/");
  const at = slash < 0 ? undefined : tryParse(text.slice(0, slash));
  if (at !== undefined) return { at, symbol: text.slice(slash + 1) };
  throw invalid(`after is ${JSON.stringify(text.slice(0, 100))}: give at and symbol of the last signal that you have`);
}

function statusOf(text: string): StrategyStatus {
  const status = strategyStatus.safeParse(text);
  if (status.success) return status.data;
  throw invalid(
    `there is no status ${JSON.stringify(text.slice(0, 50))}; there are ${strategyStatus.options.join(", ")}`,
  );
}

function denied(code: Denial["code"], reason: string): DeniedAnswer {
  return { denial: { code, reason } };
}

function invalid(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

function unknown(strategyId: string): Fault {
  const sentence = `there is no strategy ${JSON.stringify(strategyId.slice(0, 64))}; ctl research strategies list shows them`;
  return new Fault("NOT_FOUND", sentence, { retry: "never" });
}
