// Puts the paper platform's first positions in, once, as fills: the risk engine and treasury learn them the way they learn every other.
import * as decimal from "../../contracts/src/decimal.ts";
import { format } from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { type PaperPosition, paperPositions } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";
import { bookFill } from "./booking.ts";

type SeedPositionsPorts = Pick<ServicePorts, "clock" | "log" | "store" | "settings" | "referenceData" | "riskStore">;

/** What makes a second start leave everything as it is: remembered for a while by the store, and for good by whoever booked the fills. */
const seeding = { subscription: "oms.seed", id: "paper-positions" };

export async function seedPositions(ports: SeedPositionsPorts): Promise<void> {
  if (!ports.settings.seedPaperPlatform) return;
  const { funds, instruments } = await ports.referenceData.read();
  const isThere = ({ fundId, strategyId, symbol }: PaperPosition): boolean =>
    funds.some(
      ({ fund_id, mode, strategies }) => fund_id === fundId && mode === "PAPER" && strategies.includes(strategyId),
    ) && instruments.some((instrument) => instrument.symbol === symbol);
  // Where the reference data is somebody's own, so are the positions.
  if (!paperPositions.every(isThere)) return;
  const booked = await ports.riskStore.knownFills(paperPositions.map(seedFillId));
  if (booked.size > 0) return;
  const seeded = await ports.store.transact("oms.seed", async (unit) => {
    const symbols = new Set(paperPositions.map(({ symbol }) => symbol));
    const holdings = await unit.treasury.holdings();
    if (holdings.some(({ symbol }) => symbols.has(symbol))) return false;
    if (!(await unit.handled.firstTime(seeding.subscription, seeding.id))) return false;
    const at = ports.clock.now();
    for (const position of paperPositions) {
      const instrument = instruments.find(({ symbol }) => symbol === position.symbol);
      const multiplier = decimal.parse(instrument?.multiplier ?? "1");
      await bookFill(unit, fillOf(position, format(at)), multiplier, at);
    }
    return true;
  });
  if (seeded) ports.log.info("the paper platform's first positions were put in", { positions: paperPositions.length });
}

/** An option's symbol has a space in it, which an id may not have. */
export function seedFillId({ fundId, symbol }: PaperPosition): string {
  return `seed-${fundId}-${symbol.replaceAll(" ", "-")}`;
}

function fillOf(position: PaperPosition, at: string): Fill {
  return {
    fill_id: seedFillId(position),
    order_id: seedFillId(position),
    fund_id: position.fundId,
    strategy_id: position.strategyId,
    symbol: position.symbol,
    side: position.side,
    quantity: position.quantity,
    price: position.price,
    currency: "USD",
    broker: "paper",
    filled_at: at,
    kind: "SEED",
  };
}
