// Research's shell: a worker per strategy that trades the paper funds through the front door, their backtests, and what people ask about both.
import type { MatrixRequest } from "../../contracts/src/generated/svc/v1/matrix.ts";
import type {
  GetBacktestRequest,
  ListSignalsRequest,
  ListStrategiesRequest,
  SetStrategyRequest,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import { strategies } from "../../core/strategies/index.ts";
import type { RpcCall, RpcService } from "../../ports/rpc.ts";
import { referenceReader as referenceViews } from "../reference/reference-view.ts";
import { startParts } from "../shared/parts.ts";
import type { Service, ServicePorts } from "../shared/service.ts";
import { keepBacktests } from "./backtests.ts";
import { dailyClosesReader } from "./daily-closes.ts";
import { keepDailySkill } from "./daily-skill.ts";
import { referenceReader } from "./fund-view.ts";
import { type MarketView, openMarketView } from "./market-view.ts";
import { getMatrix, type MatrixParts } from "./matrix.ts";
import { getBacktest, listSignals, listStrategies, setStrategy } from "./strategy-commands.ts";
import { startWorker } from "./worker.ts";

export const research: Service = {
  name: "research",
  sentence: "Owns the strategies, their backtests and their live signals.",
  needs: ["oms", "treasury"],
  start: (ports) =>
    startParts(ports, async (parts) => {
      const market = parts.add("market view", await openMarketView(ports));
      const references = referenceReader(ports);
      parts.add("daily skill", keepDailySkill(ports, references));
      parts.add("backtests", keepBacktests(ports, references));
      const workers = strategies.map((strategy) => startWorker(strategy, ports, market, references));
      parts.add("strategies", { stop: () => Promise.all(workers.map((worker) => worker.stop())) });
      return { rpc: [procedures(ports, market)], health: () => ({ status: "ok" as const }) };
    }),
};

function procedures(ports: ServicePorts, market: MarketView): RpcService {
  const matrix: MatrixParts = {
    ports,
    references: referenceViews(ports.referenceData),
    market,
    closes: dailyClosesReader(ports),
  };
  const fundsOfStrategy = async ({ strategy_id: asked }: { readonly strategy_id: string }) => {
    const all = await ports.store.transact("research.look", (unit) => unit.research.strategies());
    return all.flatMap(({ strategyId, fundId }) => (strategyId === asked ? [fundId] : []));
  };
  return {
    name: "Research",
    handlers: {
      ListStrategies: (request: ListStrategiesRequest) => listStrategies(request, ports),
      SetStrategy: (request: SetStrategyRequest, call: RpcCall) => setStrategy(request, call, ports),
      GetBacktest: (request: GetBacktestRequest) => getBacktest(request, ports),
      ListSignals: (request: ListSignalsRequest) => listSignals(request, ports),
      GetMatrix: (request: MatrixRequest) => getMatrix(request, matrix),
    },
    fundsOf: { GetBacktest: fundsOfStrategy, ListSignals: fundsOfStrategy },
  };
}
