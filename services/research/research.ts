// Research's shell: a worker per strategy that trades the paper funds through the front door, their backtests, and what people ask about both.
import type {
  GetBacktestRequest,
  ListSignalsRequest,
  ListStrategiesRequest,
  SetStrategyRequest,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import { strategies } from "../../core/strategies/index.ts";
import type { RpcCall } from "../../ports/rpc.ts";
import type { Service } from "../shared/service.ts";
import { keepBacktests } from "./backtests.ts";
import { keepDailySkill } from "./daily-skill.ts";
import { referenceReader } from "./fund-view.ts";
import { openMarketView } from "./market-view.ts";
import { getBacktest, listSignals, listStrategies, setStrategy } from "./strategy-commands.ts";
import { startWorker } from "./worker.ts";

export const research: Service = {
  name: "research",
  sentence: "Owns the strategies, their backtests and their live signals.",
  needs: ["oms", "treasury"],
  start: async (ports) => {
    const market = await openMarketView(ports);
    const references = referenceReader(ports);
    const workers = strategies.map((strategy) => startWorker(strategy, ports, market, references));
    const backtests = keepBacktests(ports, references);
    const dailySkill = keepDailySkill(ports, references);
    return {
      rpc: [
        {
          name: "Research",
          handlers: {
            ListStrategies: (request: ListStrategiesRequest) => listStrategies(request, ports),
            SetStrategy: (request: SetStrategyRequest, call: RpcCall) => setStrategy(request, call, ports),
            GetBacktest: (request: GetBacktestRequest) => getBacktest(request, ports),
            ListSignals: (request: ListSignalsRequest) => listSignals(request, ports),
          },
        },
      ],
      health: () => ({ status: "ok" }),
      stop: async () => {
        await Promise.all(workers.map((worker) => worker.stop()));
        await backtests.stop();
        await dailySkill.stop();
        await market.close();
      },
    };
  },
};
