// Begins a split or a change of symbol: checks that it can be carried out, and announces it in one transaction with its event. From then on nothing is
// decided and nothing quoted in its symbols; order management carries it out (services/oms/corporate-actions/corporate-actions.ts). Asked again with the same id it tells
// how far that is, and one that was aborted is announced once more.

import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { BookCorporateActionRequest, CorporateAction } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { ActionLeg } from "../../contracts/src/records/corporate-action.ts";
import { idText, reasonText, symbolText } from "../../contracts/src/records/fields.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { inverse, parseRatio, type Ratio } from "../../core/ledger/corporate-actions.ts";
import { optionLegs } from "../../core/options/option-adjustment.ts";
import { endOfDate } from "../../core/options/option-expiry.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { canonicalText, hexOf } from "../reference/reference-records.ts";
import type { ReferenceReader, ReferenceView } from "../reference/reference-view.ts";
import { invalid, quoted } from "../reference/treasury-arguments.ts";
import { changedRecord } from "../shared/corporate-action-record.ts";
import type { ServicePorts } from "../shared/service.ts";

type AnnouncePorts = Pick<ServicePorts, "clock" | "store" | "sha256">;

/** Each of them is read with every value and every price of the paper market. */
export const actionsMax = 1_000;

export async function announceAction(
  request: BookCorporateActionRequest,
  call: Pick<RpcCall, "identity">,
  ports: AnnouncePorts,
  reader: ReferenceReader,
): Promise<CorporateAction | DeniedAnswer> {
  if (!idText.safeParse(request.action_id).success) {
    throw invalid(`action_id is ${quoted(request.action_id)}: make one up, such as aapl-split-2026.`);
  }
  const termsHash = hexOf(ports.sha256(canonicalText(termsOf(request))));
  // What was announced is reported before it is asked whether it could be: its symbol may be called otherwise by now.
  const reported = await ports.store.transact("treasury.look", (unit) =>
    knownAnswer(unit, request.action_id, termsHash),
  );
  if (reported !== undefined) return reported;
  const view = await reader.refresh();
  const asked = checked(request, view);
  if (asked.reason === "") return denied("REASON_MISSING", "No corporate action is booked without a reason.");
  const { instrument } = asked;
  if (instrument.asset_class !== "EQUITY") {
    const sentence = `${instrument.symbol} is of class ${instrument.asset_class}: only shares are split or change their symbol.`;
    return denied("CORPORATE_ACTION_NOT_SHARE", sentence);
  }
  const adjusted = optionLegs(instrument, asked.leg, view.reference.instruments);
  if ("why" in adjusted) return denied("CORPORATE_ACTION_STANDS", adjusted.why);
  const legs = [asked.leg, ...adjusted.legs];
  return ports.store.transact("treasury.action", async (unit) => {
    const known = await knownAnswer(unit, request.action_id, termsHash);
    if (known !== undefined) return known;
    const at = ports.clock.now();
    const why = await whyNot(unit, legs, view, at);
    if (why !== undefined) return denied("CORPORATE_ACTION_STANDS", why);
    const action: StoredAction = {
      actionId: request.action_id,
      kind: asked.kind,
      symbol: instrument.symbol,
      state: "ANNOUNCED",
      legs,
      termsHash,
      bookedBy: call.identity.actor,
      reason: asked.reason,
      announcedAt: at,
    };
    await unit.corporateActions.put(action);
    await unit.events.publish(subjects.corporateActionChanged, changedRecord(action, format(at)));
    return answerOf(action, false);
  });
}

/** By which the same action is known; 8:2 is 4:1. */
function termsOf({ kind, symbol, ratio, new_symbol: newSymbol }: BookCorporateActionRequest): readonly unknown[] {
  return [kind, symbol, parseRatio(ratio) ?? ratio, newSymbol];
}

/** Undefined when it may be announced: nobody did, or it was aborted. */
async function knownAnswer(
  unit: UnitOfWork,
  actionId: string,
  termsHash: string,
): Promise<CorporateAction | DeniedAnswer | undefined> {
  const known = await unit.corporateActions.lock(actionId);
  if (known === undefined) return undefined;
  if (known.termsHash !== termsHash) {
    return denied("CORPORATE_ACTION_CONFLICT", `${actionId} is another corporate action.`);
  }
  return known.state === "ABORTED" ? undefined : answerOf(known, true);
}

interface Asked {
  readonly kind: "SPLIT" | "SYMBOL_CHANGE";
  readonly instrument: Instrument;
  readonly leg: ActionLeg;
  readonly reason: string;
}

/** What is not there only for a moment is left to whoever carries it out. */
async function whyNot(
  unit: UnitOfWork,
  legs: readonly ActionLeg[],
  view: ReferenceView,
  at: Instant,
): Promise<string | undefined> {
  const symbols = new Set(legs.flatMap((leg) => [leg.symbol, leg.new_symbol]));
  const other = (await unit.corporateActions.underWay()).find((one) =>
    one.legs.some((leg) => symbols.has(leg.symbol) || symbols.has(leg.new_symbol)),
  );
  if (other !== undefined) return `The corporate action ${other.actionId} in ${other.symbol} is under way.`;
  const dividend = (await unit.corporateActions.dividends()).find(
    ({ state, symbol }) => state === "DECLARED" && symbols.has(symbol),
  );
  if (dividend !== undefined) {
    const exAt = format(dividend.dividend?.exAt ?? at);
    return `The dividend ${dividend.actionId} of ${dividend.symbol} is counted in the shares of now: book this after ${exAt}, when it has gone ex.`;
  }
  if ((await unit.corporateActions.applied()).length >= actionsMax) {
    return `There were ${actionsMax} corporate actions, which is the most.`;
  }
  const positions = (await unit.oms.positions()).filter(({ quantity }) => quantity !== decimal.zero);
  const ended = positions.find(({ symbol }) => symbols.has(symbol) && hasEnded(view.instruments.get(symbol), at));
  if (ended !== undefined) return `${ended.symbol} has ended, and what ${ended.fundId} holds of it is not settled yet.`;
  const live = new Set(view.reference.funds.filter(({ mode }) => mode !== "PAPER").map(({ fund_id: id }) => id));
  const held = positions.find(({ fundId, symbol }) => symbols.has(symbol) && live.has(fundId));
  if (held === undefined) return undefined;
  return `${held.fundId} holds ${held.symbol} and is no paper fund: its broker books the action, and the reconciler adopts it.`;
}

function hasEnded(instrument: Instrument | undefined, at: Instant): boolean {
  return (endOfDate(instrument?.expiry ?? "") ?? Number.POSITIVE_INFINITY) <= at;
}

function checked(request: BookCorporateActionRequest, view: ReferenceView): Asked {
  const { symbol } = request;
  const instrument = view.instruments.get(symbol);
  if (instrument === undefined) throw invalid(`There is no instrument ${quoted(symbol)}.`);
  const reason = request.reason.trim();
  if (reason !== "" && !reasonText.safeParse(reason).success) {
    throw invalid("The reason is longer than 2000 characters or has control characters in it.");
  }
  const terms = { instrument, reason };
  if (request.kind === "SPLIT") return { ...terms, kind: "SPLIT", leg: splitLeg(request) };
  return { ...terms, kind: "SYMBOL_CHANGE", leg: changeLeg(request, view) };
}

function splitLeg(request: BookCorporateActionRequest): ActionLeg {
  const ratio = parseRatio(request.ratio);
  if (ratio === undefined) {
    const form = "give new shares for old ones as two whole numbers from 1 to 1000, such as 4:1 or 1:10";
    throw invalid(`ratio is ${quoted(request.ratio)}: ${form}.`);
  }
  mustBeUnused("A split has a ratio", request.amount_per_share, request.ex_date, request.new_symbol);
  return legOf(request.symbol, request.symbol, ratio);
}

function changeLeg(request: BookCorporateActionRequest, view: ReferenceView): ActionLeg {
  const { symbol, new_symbol: newSymbol } = request;
  if (!symbolText.safeParse(newSymbol).success) throw invalid(`new_symbol is ${quoted(newSymbol)}: give a symbol.`);
  if (view.instruments.has(newSymbol)) throw invalid(`There is an instrument ${quoted(newSymbol)} already.`);
  mustBeUnused("A change of symbol has a new_symbol", request.amount_per_share, request.ex_date, request.ratio);
  return legOf(symbol, newSymbol, [1, 1]);
}

function mustBeUnused(what: string, ...terms: readonly string[]): void {
  if (terms.some((text) => text !== "")) throw invalid(`${what}, and none of the terms of other kinds.`);
}

function legOf(symbol: string, newSymbol: string, ratio: Ratio): ActionLeg {
  return { symbol, new_symbol: newSymbol, quantity: [...ratio], price: [...inverse(ratio)] };
}

function answerOf({ actionId, kind, symbol, state, note }: StoredAction, isKnown: boolean): CorporateAction {
  return { action_id: actionId, kind, symbol, entries: [], already_booked: isKnown, state, note: note ?? "" };
}

function denied(code: Denial["code"], reason: string): DeniedAnswer {
  return { denial: { code, reason } };
}
