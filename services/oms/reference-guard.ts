// Whether the reference data still has what an approved order names, asked in the transaction of its sending. The risk engine hears of a change within a
// second; by then an order may have been approved on what is gone, so the approval alone is not believed. Marked exits pass: what they close is
// held, and what is held keeps its reference data.
import type { Denial } from "../../contracts/src/codes.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { Reference } from "../../ports/reference-data.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { OmsPorts } from "./oms-parts.ts";

interface Known {
  readonly versions: Pick<Reference["versions"], "instruments" | "funds">;
  readonly symbols: ReadonlySet<string>;
  /** The fund of each strategy. */
  readonly funds: ReadonlyMap<string, string>;
}

type ReferenceGuard = (unit: UnitOfWork, stored: Pick<StoredOrder, "order">) => Promise<Denial | undefined>;

type Named = Pick<StoredOrder["order"], "fund_id" | "strategy_id" | "symbol">;
type Missing = (unit: UnitOfWork, named: Named) => Promise<string | undefined>;

export function createReferenceGuard(ports: Pick<OmsPorts, "referenceData">): ReferenceGuard {
  const missing = missingReference(ports);
  return async (unit, { order }) => {
    if (order.reduce_only === true) return undefined;
    const reason = await missing(unit, order);
    return reason === undefined ? undefined : { code: "ORDER_REFERENCE_GONE", reason };
  };
}

/** What the reference data has not got of what is named, in one sentence; it cannot go away before the unit of work has ended. */
export function missingReference({ referenceData }: Pick<OmsPorts, "referenceData">): Missing {
  let known: Known | undefined;

  async function at(versions: Known["versions"]): Promise<Known> {
    const isNewest = known?.versions.instruments === versions.instruments && known.versions.funds === versions.funds;
    if (known !== undefined && isNewest) return known;
    const reference = await referenceData.read();
    known = {
      versions: reference.versions,
      symbols: new Set(reference.instruments.map(({ symbol }) => symbol)),
      funds: new Map(reference.funds.flatMap(({ fund_id: id, strategies }) => strategies.map((one) => [one, id]))),
    };
    return known;
  }

  return async (unit, { fund_id: fundId, strategy_id: strategyId, symbol }) => {
    const { symbols, funds } = await at(await unit.reference.atSending());
    const gone = [
      ...(symbols.has(symbol) ? [] : [`the instrument ${symbol}`]),
      ...(funds.get(strategyId) === fundId ? [] : [`${strategyId} of ${fundId}`]),
    ];
    return gone.length === 0 ? undefined : `The reference data no longer has ${gone.join(" and ")}.`;
  };
}
