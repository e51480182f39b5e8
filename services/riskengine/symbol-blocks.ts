// Symbols in which our position and the broker's differ for certain: no new risk is taken in them; and symbols of corporate actions that are under way:
// nothing is decided in them. Read before anything is served, and again every half second, because others write them in another process. When the store does not answer, the last list stands; that halts are then
// unknown is what stops new risk.
import type { Engine } from "../../core/engine/engine.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { SafetyFacts } from "../../ports/safety-reads.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { actionPace } from "../shared/corporate-action-record.ts";
import type { Loop } from "../shared/loop.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import { type SafetyLooks, startReader } from "./safety-looks.ts";

const reasonCharactersMax = 300;

type Ports = Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash" | "settings">;

/** Resolves when the engine has them. */
export async function watchSymbolBlocks(ports: Ports, engine: Engine, looks?: SafetyLooks): Promise<Loop> {
  const { lookEveryMs } = actionPace(ports.settings);
  let known = "";
  let knownHeld = "[]";

  async function ask(): Promise<SafetyFacts["blocks"]> {
    const look = <Found>(work: (unit: UnitOfWork) => Promise<Found>): Promise<Found> =>
      ports.store.transact("riskengine.blocks", work, { isOneStatement: true });
    const underWay = await look((unit) => unit.corporateActions.underWay());
    return { underWay, confirmed: await look((unit) => unit.reconcile.confirmed()) };
  }

  function hear({ underWay, confirmed }: SafetyFacts["blocks"]): void {
    hold(underWay);
    const blocks = confirmed.map(({ fundId, symbol, evidence, at }) => ({
      code: "SYMBOL_BLOCKED" as const,
      since: at,
      fundId,
      symbol,
      reason: line(evidence, reasonCharactersMax),
    }));
    const content = JSON.stringify(blocks);
    if (content === known) return;
    known = content;
    engine.setConditions("differences with the broker", blocks);
    ports.log.info("symbols that differ from the broker have changed", { blocked: blocks.length });
  }

  function hold(underWay: readonly StoredAction[]): void {
    const held = underWay.flatMap(({ actionId, kind, legs, announcedAt: since }) => {
      const why = line(`corporate action ${actionId} (${kind}) is under way`, reasonCharactersMax);
      const symbols = new Set(legs.flatMap(({ symbol, new_symbol: newSymbol }) => [symbol, newSymbol]));
      return [...symbols].map((symbol) => {
        const leg = legs.find(({ new_symbol: newSymbol }) => newSymbol === symbol);
        const was = leg && { symbol: leg.symbol, ratio: leg.price };
        return { symbol, reason: why, since, ...(was !== undefined && { was }) };
      });
    });
    const content = JSON.stringify(held);
    if (content === knownHeld) return;
    knownHeld = content;
    engine.setHeldSymbols(held);
    ports.log.info("symbols with a corporate action under way have changed", { held: held.length });
  }

  const trouble = { failing: "blocked symbols cannot be read", working: "blocked symbols can be read again" };
  return startReader(ports, looks, { question: "blocks", everyMs: lookEveryMs, ask, hear, trouble });
}
