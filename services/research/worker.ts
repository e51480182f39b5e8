// One strategy at work: it decides every so often, at moments of its own so that strategies do not all ask at once, and looks back at what it said. Trouble
// with the store or with another service is said once and waited out, longer each time.
import { fromUnixMs, minusMilliseconds } from "../../contracts/src/instant.ts";
import { nameNow } from "../../core/ledger/corporate-actions.ts";
import { type Names, renamedStrategy } from "../../core/strategies/renamed-strategy.ts";
import type { Strategy } from "../../core/strategies/shape.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { Timers } from "../../ports/timers.ts";
import { type Loop, startLoop } from "../shared/loop.ts";
import type { ServicePorts } from "../shared/service.ts";
import { type DecideMemory, type DecidePorts, decide, signalEveryMs } from "./decide.ts";
import type { ReferenceReader } from "./fund-view.ts";
import type { MarketView } from "./market-view.ts";
import { realise } from "./realise.ts";

type WorkerPorts = DecidePorts & Pick<ServicePorts, "crash" | "random"> & { readonly timers: Timers };

/** The first decision comes when the first prices and values are there. */
const firstAfterMs = 3_000;
const pauseMsMax = 120_000;

export function startWorker(
  strategy: Strategy,
  ports: WorkerPorts,
  market: MarketView,
  references: ReferenceReader,
): Loop {
  const { decideEveryMs } = ports.settings.research;
  const began = ports.clock.now();
  const memory: DecideMemory = {
    signalledAt: minusMilliseconds(began, signalEveryMs),
    quietUntil: began,
    isStopping: () => false,
  };
  let actionsSeen = 0;

  async function run(ending: AbortSignal): Promise<number> {
    memory.isStopping = () => ending.aborted;
    const actions = await ports.store.transact("research.look", (unit) => unit.corporateActions.applied(), {
      isOneStatement: true,
    });
    if (actions.length !== actionsSeen) market.forgetPast();
    actionsSeen = actions.length;
    const named = renamedStrategy(strategy, namesNow(strategy, actions, await references.current()));
    await decide(named, ports, market, references, memory);
    await realise(named, ports, market, actions);
    return decideEveryMs * (0.8 + 0.4 * chance());
  }

  /** From 0 up to 1. */
  function chance(): number {
    const [high = 0, low = 0] = ports.random.bytes(2);
    return (high * 256 + low) / 65_536;
  }

  return startLoop({
    ports: { ...ports, log: ports.log.with({ strategy: strategy.name }) },
    what: { failing: "the strategy cannot work", working: "the strategy works again" },
    firstAfterMs: firstAfterMs + chance() * Math.min(decideEveryMs, 5_000),
    run,
    troubleMsMin: Math.min(decideEveryMs * 2, pauseMsMax),
    troubleMsMax: pauseMsMax,
  });
}

const always = fromUnixMs(0);

/** What the symbols that it was written with are called now, for those that are called otherwise. */
function namesNow(
  strategy: Strategy,
  actions: readonly StoredAction[],
  { instruments }: Awaited<ReturnType<ReferenceReader["current"]>>,
): Names {
  const written = new Set([...strategy.signalled, ...actions.flatMap(({ legs }) => legs.map(({ symbol }) => symbol))]);
  const pairs = [...written].map((symbol) => [symbol, nameNow(symbol, always, actions)] as const);
  // No strategy is written with the name of a series: it finds options by their terms.
  const isShare = (symbol: string): boolean => (instruments.get(symbol)?.asset_class ?? "OPTION") !== "OPTION";
  return new Map(pairs.filter(([before, after]) => before !== after && isShare(after)));
}
