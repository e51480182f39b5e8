// Repairs what is kept of a paper fund's positions, cash and balances: adds up its entries again, books the trades of order management that have no
// entry, and puts right whatever is not the sum. Entries themselves are never changed.
//
//  1. Everything happens in one transaction with its event and with the use of the second factor, or nothing does.
//  2. A correction is added to what is kept, so that it makes no difference what is booked meanwhile. Orders, halts and a flatten may go on.
//  3. While fills of the fund wait to be booked it is refused: what is in their way is put right first, and they are booked in their order.
import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { messageOf } from "../../contracts/src/fault.ts";
import type { LedgerRebuild, RebuildLedgerRequest } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { reasonText } from "../../contracts/src/records/fields.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { correctionsOf, differencesOf, type SumDifference } from "../../core/ledger/ledger-rebuild.ts";
import type { NamedAction } from "../../ports/identity.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ReferenceReader, ReferenceView } from "../reference/reference-view.ts";
import { invalid, knownFund } from "../reference/treasury-arguments.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { BookFill } from "./waiting-fills.ts";
import { isTrouble } from "./waiting-fills.ts";

type RebuildPorts = Pick<ServicePorts, "clock" | "store">;

/** Trades without an entry that one rebuild books. */
const unbookedMax = 10_000;
/** As many as the event names. */
const namedMax = 100;

export async function rebuildLedger(
  request: RebuildLedgerRequest,
  call: Pick<RpcCall, "identity">,
  ports: RebuildPorts,
  { reader, book }: { readonly reader: ReferenceReader; readonly book: BookFill },
): Promise<LedgerRebuild | DeniedAnswer> {
  const view = await reader.refresh();
  const fund = knownFund(view, request.fund_id);
  if (fund.mode !== "PAPER") {
    return denied("REBUILD_NOT_PAPER", `${fund.fund_id} is a live fund: its books are its own treasury's.`);
  }
  const reason = request.reason.trim();
  if (!request.dry_run && reason === "") return denied("REASON_MISSING", "No ledger is rebuilt without a reason.");
  if (reason !== "" && !reasonText.safeParse(reason).success) {
    throw invalid("The reason is longer than 2000 characters or has control characters in it.");
  }
  const at = ports.clock.now();
  if (request.dry_run) {
    return ports.store.transact("treasury.look", async (unit) => {
      const waiting = await waits(unit, fund.fund_id);
      if (waiting !== undefined) return waiting;
      const missing = await unit.oms.unbookedFills([fund.fund_id], unbookedMax);
      const { entries, added, kept } = await unit.ledger.sumsOf(fund.fund_id);
      const found = { entries, booked: missing.map(({ fill_id: id }) => id), differences: differencesOf(added, kept) };
      return rebuildMessage(fund.fund_id, true, found, at);
    });
  }
  return ports.store.transact("treasury.rebuild", async (unit) => {
    const waiting = await waits(unit, fund.fund_id);
    if (waiting !== undefined) return waiting;
    const proof = request.step_up_proof === "" ? undefined : request.step_up_proof;
    const named = rebuildAction(fund.fund_id, reason);
    const denial = await unit.stepUps.redeem({ identity: call.identity, named, proof, at });
    if (denial !== undefined) return { denial };
    const found = await rebuild(unit, fund.fund_id, view, book);
    await tell(unit, fund.fund_id, found, { by: call.identity.actor, reason, at });
    return rebuildMessage(fund.fund_id, false, found, at);
  });
}

/** What a proof of the second factor must name. */
export function rebuildAction(fundId: string, reason: string): NamedAction {
  return { action: "RebuildLedger", parameters: { fund_id: fundId, reason } };
}

interface Rebuilt {
  readonly entries: number;
  readonly booked: readonly string[];
  readonly differences: readonly SumDifference[];
}

async function waits(unit: UnitOfWork, fundId: string): Promise<DeniedAnswer | undefined> {
  const [first] = await unit.ledger.waitingFills(fundId, 1);
  if (first === undefined) return undefined;
  const sentence = `The fill ${first.fill_id} (${first.symbol}) of ${fundId} waits to be booked: FILL_UNBOOKED says why. Put that right first.`;
  return denied("REBUILD_FILLS_WAIT", sentence);
}

async function rebuild(unit: UnitOfWork, fundId: string, view: ReferenceView, book: BookFill): Promise<Rebuilt> {
  const missing = await unit.oms.unbookedFills([fundId], unbookedMax);
  for (const fill of missing) {
    try {
      await book(unit, view, fill);
    } catch (thrown) {
      if (isTrouble(thrown)) throw thrown;
      throw invalid(`The trade ${fill.fill_id} has no entry and cannot be booked: ${messageOf(thrown)}`);
    }
  }
  const { entries, added, kept } = await unit.ledger.sumsOf(fundId);
  const differences = differencesOf(added, kept);
  if (differences.length > 0) await unit.ledger.correct(fundId, correctionsOf(differences));
  return { entries, booked: missing.map(({ fill_id: id }) => id), differences };
}

async function tell(
  unit: UnitOfWork,
  fundId: string,
  { entries, booked, differences }: Rebuilt,
  { by, reason, at }: { readonly by: string; readonly reason: string; readonly at: Instant },
): Promise<void> {
  await unit.events.publish(subjects.ledgerRebuilt, {
    fund_id: fundId,
    entries,
    booked_fills: booked.slice(0, namedMax),
    booked_fill_count: booked.length,
    differences: differences.slice(0, namedMax).map(differenceMessage),
    difference_count: differences.length,
    rebuilt_by: by,
    reason,
    at: format(at),
  });
}

function rebuildMessage(fundId: string, isDry: boolean, found: Rebuilt, at: Instant): LedgerRebuild {
  return {
    fund_id: fundId,
    dry_run: isDry,
    entries: found.entries,
    booked_fills: [...found.booked],
    differences: found.differences.map(differenceMessage),
    rebuilt_at: format(at),
  };
}

function differenceMessage({ record, account, strategyId, symbol, kept, rebuilt }: SumDifference) {
  return {
    record,
    ...(account !== undefined && { account }),
    ...(strategyId !== undefined && { strategy_id: strategyId }),
    symbol,
    kept: decimal.format(kept),
    rebuilt: decimal.format(rebuilt),
  };
}

function denied(code: Denial["code"], reason: string): DeniedAnswer {
  return { denial: { code, reason } };
}
