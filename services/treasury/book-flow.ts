// Deposits into paper funds and withdrawals from them. The same key is one flow for good; cash is never withdrawn that is not there; the books of
// a live fund are not ours.
//
// A withdrawal is checked and booked in one unit of work that holds the fund: the risk engine says whether its limits hold afterwards and counts the money
// as gone from then on, no value of the fund is made in between, and halts are read once more, held, right before it is booked. A halt that is latched
// earlier refuses it, one that is latched later finds it booked. Where the engine does not answer nothing leaves. Deposits are taken at any time.
//
// Money that comes or goes moves every limit that is a share of the fund, so each new flow asks for the second factor, as what loosens limits does. The
// proof is redeemed last, in the unit of work that books: what is refused anyway uses none up, and a flow that was booked before needs none.
import type { Denial } from "../../contracts/src/codes.ts";
import { currencyPlaces } from "../../contracts/src/currency-places.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect } from "../../contracts/src/fault.ts";
import type { BookFlowRequest, LedgerEntry as LedgerMessage } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import { idText, reasonText } from "../../contracts/src/records/fields.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { flowEntry } from "../../core/ledger/ledger.ts";
import type { NamedAction } from "../../ports/identity.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ReferenceReader } from "../reference/reference-view.ts";
import { invalid, knownFund, quoted } from "../reference/treasury-arguments.ts";
import type { ServicePorts } from "../shared/service.ts";
import { bookEntry, entryIdOf } from "./book-entry.ts";
import { ledgerMessage } from "./list-ledger.ts";

type FlowPorts = Pick<ServicePorts, "clock" | "store" | "sha256" | "withdrawals">;

export async function bookFlow(
  request: BookFlowRequest,
  call: Pick<RpcCall, "identity">,
  ports: FlowPorts,
  reader: ReferenceReader,
): Promise<LedgerMessage | DeniedAnswer> {
  const fund = knownFund(await reader.refresh(), request.fund_id);
  if (fund.mode !== "PAPER") {
    return denied("FLOW_NOT_PAPER", `${fund.fund_id} is a live fund: its books are its own treasury's.`);
  }
  const { key, amount } = checked(request, fund);
  const reason = request.reason.trim();
  if (reason === "") return denied("REASON_MISSING", "No money is moved without a reason.");
  if (!reasonText.safeParse(reason).success) {
    throw invalid("The reason is longer than 2000 characters or has control characters in it.");
  }
  return ports.store.transact("treasury.flow", async (unit) => {
    const entry = flowEntry({
      entryId: entryIdOf(ports.sha256, "flow", fund.fund_id, key),
      fundId: fund.fund_id,
      currency: fund.currency,
      amount,
      reason,
      bookedBy: call.identity.actor,
      at: ports.clock.now(),
    });
    const known = await unit.ledger.entry(entry.entryId);
    if (known === undefined) {
      const proof = request.step_up_proof === "" ? undefined : request.step_up_proof;
      const named = flowAction(request, reason);
      // Nothing is reserved for a withdrawal that will not be booked.
      const isAsked = proof !== undefined && amount < decimal.zero;
      const refused = isAsked ? await withdrawalRefusal(unit, entry, decimal.negate(amount), ports) : undefined;
      if (refused !== undefined) return refused;
      const denial = await unit.stepUps.redeem({ identity: call.identity, named, proof, at: entry.at });
      if (denial !== undefined) return { denial };
    } else if (!sameFlow(known, entry)) {
      return denied("FLOW_KEY_CONFLICT", "The idempotency key belongs to another flow of this fund.");
    }
    const booked = await bookOnce(unit, entry);
    return { ...ledgerMessage(booked), already_booked: booked !== entry };
  });
}

/** What a proof of the second factor must name. */
export function flowAction(
  { fund_id, idempotency_key, currency, amount }: Omit<BookFlowRequest, "reason" | "step_up_proof">,
  reason: string,
): NamedAction {
  return { action: "BookFlow", parameters: { fund_id, idempotency_key, currency, amount, reason } };
}

function checked(request: BookFlowRequest, fund: FundReference): { key: string; amount: decimal.Decimal } {
  if (!idText.safeParse(request.idempotency_key).success) {
    throw invalid(
      `idempotency_key is ${quoted(request.idempotency_key)}: make one up for this flow, such as deposit-2026-11-15.`,
    );
  }
  if (request.currency !== fund.currency) {
    throw invalid(`currency is ${quoted(request.currency)}: flows of ${fund.fund_id} are in ${fund.currency}.`);
  }
  const amount = decimal.tryParse(request.amount);
  if (amount === undefined || amount === decimal.zero) {
    throw invalid(`amount is ${quoted(request.amount)}: give a decimal such as 2500.50, or -2500.50 to withdraw.`);
  }
  const places = currencyPlaces(fund.currency);
  if (decimal.round(amount, places, "down") !== amount) {
    const smallest = places === 0 ? "1" : `0.${"1".padStart(places, "0")}`;
    throw invalid(`amount is ${quoted(request.amount)}: ${fund.currency} is not paid in less than ${smallest}.`);
  }
  return { key: request.idempotency_key, amount };
}

async function withdrawalRefusal(
  unit: UnitOfWork,
  entry: LedgerEntry,
  amount: decimal.Decimal,
  { withdrawals, clock }: FlowPorts,
): Promise<DeniedAnswer | undefined> {
  const { fundId } = entry;
  const currency = entry.postings[0]?.currency ?? "";
  // No value is made of the fund until this unit ends.
  await unit.ledger.lockFund(fundId);
  const cash = await unit.ledger.lockHolding(fundId, currency);
  const asked = { fundId, amount: decimal.format(amount), cash: decimal.format(cash), at: format(clock.now()) };
  const answered = await withdrawals.reserve(asked);
  if ("denial" in answered) return { denial: answered.denial };
  if (decimal.subtract(cash, amount) < decimal.zero) {
    const sentence = `${fundId} has ${decimal.format(cash)} ${currency} in cash, less than the withdrawal.`;
    return denied("FLOW_CASH_SHORT", sentence);
  }
  const { active } = await unit.oms.haltsAtSending();
  const halt = active.find(
    (one) => one.severity === "FIRM_HALT" || (one.severity === "FUND_HALT" && one.fund_id === fundId),
  );
  return halt && denied("FLOW_HALTED", `The halt ${halt.halt_id} is in force: no money leaves ${fundId}.`);
}

function sameFlow(known: LedgerEntry, wanted: LedgerEntry): boolean {
  const bodyOf = ({ postings, reason }: LedgerEntry): string =>
    JSON.stringify([reason, postings.map((one) => [one.account, one.currency, decimal.format(one.amount)])]);
  return bodyOf(known) === bodyOf(wanted);
}

/** The entry as it was booked, now or before. */
async function bookOnce(unit: UnitOfWork, entry: LedgerEntry): Promise<LedgerEntry> {
  if (await bookEntry(unit, entry)) return entry;
  const known = await unit.ledger.entry(entry.entryId);
  if (known === undefined) throw new Defect(`the entry ${entry.entryId} is booked and is not there`);
  return known;
}

function denied(code: Denial["code"], reason: string): DeniedAnswer {
  return { denial: { code, reason } };
}
