// CAT: what each event of an order's life becomes in the consolidated audit trail.
//
//  1. An order is known by the time at which its first record says that it began, its id and its symbol; every later record repeats them.
//  2. A fill is no event of ours: the exchange or the broker that executed it reports it. Crypto is not reported.
//  3. What the tables refuse, what has no destination or identity, and what names an order that CAT never heard of is quarantined: nothing is dropped.
//  4. The same event makes the same bytes.
import type { CatDestination, CatSettings, FiledEventType } from "../../../contracts/src/records/filing.ts";
import { catDate, easternDate } from "../eastern-time.ts";
import type { FilingMistake } from "../mistake.ts";
import {
  beginnings,
  type HexSha256,
  type KnownOrder,
  type KnownOrders,
  type RegimeRecord,
  type RegulatoryEvent,
} from "../regulatory-event.ts";
import type { CatFields } from "./fields.ts";
import { catRecord, isCatText } from "./record.ts";
import { instrumentOf, isOption, numberOf, openCloseOf, sideOf, termsOf } from "./terms.ts";

interface Case {
  readonly event: RegulatoryEvent;
  readonly settings: CatSettings;
  readonly known: KnownOrders;
  /** Ids that CAT's texts cannot hold become hashes. */
  idOf(id: string): string;
}

type FieldsOf = (of: Case) => CatFields;

interface Kind {
  /** Of equities and of options. */
  readonly types: readonly [string, string];
  readonly fields: FieldsOf;
}

const idLengthMax = 64;
const shortHash = 32;
const childModified: Kind = { types: ["MECOM", "MOCOM"], fields: modifiedChild };
const childCancelled: Kind = { types: ["MECOC", "MOCOC"], fields: cancelledChild };

const kinds: Readonly<Record<Exclude<FiledEventType, "fill" | "fill_busted">, Kind>> = {
  new_order: { types: ["MENO", "MONO"], fields: newOrder },
  order_received: { types: ["MEOA", "MOOA"], fields: receivedOrder },
  child_order: { types: ["MECO", "MOCO"], fields: childOrder },
  order_routed: { types: ["MEOR", "MOOR"], fields: route },
  route_rejected: { types: ["MEORS", "MOORS"], fields: rejectedRoute },
  order_modified: { types: ["MEOM", "MOOM"], fields: modifiedOrder },
  route_modified: { types: ["MEMR", "MOMR"], fields: modifiedRoute },
  order_cancelled: { types: ["MEOC", "MOOC"], fields: cancelledOrder },
  route_cancelled: { types: ["MECR", "MOCR"], fields: cancelledRoute },
};

const routeEvents: readonly FiledEventType[] = ["order_routed", "route_rejected", "route_modified", "route_cancelled"];

/** The date of its submission file, YYYY-MM-DD, is the event's on the wall calendar of New York. */
export function catRecordOf(
  event: RegulatoryEvent,
  settings: CatSettings,
  known: KnownOrders,
  sha256: HexSha256,
): RegimeRecord {
  const { order, type: eventType } = event;
  if (eventType === "fill" || eventType === "fill_busted") {
    return { status: "NOT_REPORTABLE", reason: "The exchange or the broker that executed it reports a fill to CAT." };
  }
  if (order.asset_class === "CRYPTO") return { status: "NOT_REPORTABLE", reason: "CAT takes no crypto." };
  const kind = kindOf(eventType, known.order);
  const type = kind.types[isOption(order) ? 1 : 0];
  const mistakes = [...unknownOrders(event, known), ...missingPlaces(event, settings)];
  if (mistakes.length > 0) return { status: "QUARANTINED", type, mistakes };
  const idOf = (id: string): string => (isCatText(id, idLengthMax) ? id : sha256(id));
  const date = easternDate(event.at);
  const fields: CatFields = {
    actionType: "NEW",
    firmROEID: `${catDate(date)}_${roeOf(event, type, sha256)}`,
    type,
    CATReporterIMID: settings.imid,
    orderKeyDate: { time: known.order?.beganAt ?? event.at },
    orderID: idOf(order.order_id),
    ...instrumentOf(order),
    eventTimestamp: { time: event.at },
    ...kind.fields({ event, settings, known, idOf }),
  };
  const record = catRecord(fields, date);
  return "line" in record
    ? { status: "WRITTEN", type, line: record.line }
    : { status: "QUARANTINED", type, mistakes: record.mistakes };
}

function kindOf(type: keyof typeof kinds, order: KnownOrder | undefined): Kind {
  if (order?.isChild === true && type === "order_modified") return childModified;
  if (order?.isChild === true && type === "order_cancelled") return childCancelled;
  return kinds[type];
}

/** Names the record for its reporter: the same for the same event, another for every other. */
function roeOf({ order, key }: RegulatoryEvent, type: string, sha256: HexSha256): string {
  return sha256(JSON.stringify([order.fund_id, order.order_id, key, type])).slice(0, shortHash);
}

function unknownOrders({ type, order, details }: RegulatoryEvent, known: KnownOrders): readonly FilingMistake[] {
  const begins = beginnings.includes(type);
  if (begins && known.order !== undefined) {
    const sentence = `Order ${order.order_id} was reported as new before, under another event.`;
    return [{ code: "FILING_ORDER_KNOWN", field: "orderID", sentence }];
  }
  if (!begins && known.order === undefined) return [neverHeardOf("orderID", order.order_id)];
  if (known.order !== undefined && known.order.symbol !== order.symbol) {
    const sentence = `Order ${order.order_id} was reported in ${known.order.symbol} and not in ${order.symbol}.`;
    return [{ code: "FILING_FIELD_INVALID", field: "symbol", sentence }];
  }
  if (type === "child_order" && known.parent === undefined) {
    return [neverHeardOf("parentOrderID", details.parent_order_id ?? "")];
  }
  return [];
}

function neverHeardOf(field: string, orderId: string): FilingMistake {
  return { code: "FILING_ORDER_UNKNOWN", field, sentence: `No record says how order ${orderId} began.` };
}

function missingPlaces({ type, order }: RegulatoryEvent, settings: CatSettings): readonly FilingMistake[] {
  const mistakes: FilingMistake[] = [];
  const isRoute = routeEvents.includes(type);
  if (isRoute && destinationOf(order, settings) === undefined) {
    const named = [order.venue, order.broker].filter((name) => name !== undefined).join(" or ");
    const sentence = `compliance.cat_destinations of the fund does not say where ${named} is.`;
    mistakes.push({ code: "FILING_DESTINATION_UNKNOWN", field: "destination", sentence });
  }
  if ((isRoute || type === "order_received") && memberOf(settings) === undefined) {
    const field = isRoute ? "senderIMID" : "receiverIMID";
    const sentence = "compliance.cat_crd and compliance.cat_reporter_imid of the fund are needed for it.";
    mistakes.push({ code: "FILING_IDENTITY_INCOMPLETE", field, sentence });
  }
  return mistakes;
}

/** The venue counts before the broker. */
function destinationOf(
  { venue, broker }: RegulatoryEvent["order"],
  { destinations }: CatSettings,
): CatDestination | undefined {
  const named = [venue, broker].find((name) => name !== undefined && Object.hasOwn(destinations, name));
  return named === undefined ? undefined : destinations[named];
}

function memberOf({ crd, imid }: CatSettings): string | undefined {
  return crd === undefined || imid === undefined ? undefined : `${crd}:${imid}`;
}

function newOrder({ event, settings }: Case): CatFields {
  const shared = {
    manualFlag: false,
    electronicDupFlag: false,
    deptType: settings.deptType,
    ...termsOf(event),
    firmDesignatedID: settings.fdid,
    accountHolderType: settings.accountHolderType,
    affiliateFlag: false,
    solicitationFlag: false,
    representativeInd: "N",
  };
  if (isOption(event.order)) return { ...shared, openCloseIndicator: openCloseOf(event) };
  return { ...shared, custDspIntrFlag: false, negotiatedTradeFlag: false };
}

function receivedOrder({ event, settings, idOf }: Case): CatFields {
  const { details, order } = event;
  const shared = {
    manualFlag: false,
    electronicDupFlag: false,
    receiverIMID: memberOf(settings),
    senderIMID: details.sender_imid,
    senderType: details.sender_type ?? "F",
    routedOrderID: idOf(details.routed_order_id ?? order.order_id),
    affiliateFlag: false,
    deptType: settings.deptType,
    solicitationFlag: false,
    ...termsOf(event),
  };
  if (isOption(order)) return { ...shared, openCloseIndicator: openCloseOf(event) };
  return { ...shared, isoInd: "NA", custDspIntrFlag: false };
}

function childOrder({ event, known, idOf }: Case): CatFields {
  const { parent } = known;
  const shared = {
    parentOrderKeyDate: parent && { time: parent.beganAt },
    parentOrderID: parent && idOf(parent.orderId),
    ...termsOf(event),
    multiLegInd: false,
  };
  return isOption(event.order) ? { ...shared, openCloseIndicator: openCloseOf(event) } : shared;
}

/** Where it goes, as every record of a route says it. */
function placeOf({ event, settings, idOf }: Case): CatFields {
  const { order, details } = event;
  const destination = destinationOf(order, settings);
  return {
    senderIMID: memberOf(settings),
    destination: destination?.id,
    destinationType: destination?.type,
    routedOrderID: idOf(details.routed_order_id ?? order.order_id),
    session: destination?.session,
  };
}

function originCode({ event, settings }: Case): CatFields {
  return { exchOriginCode: destinationOf(event.order, settings)?.exch_origin_code };
}

function route(of: Case): CatFields {
  const shared = {
    manualFlag: false,
    electronicDupFlag: false,
    ...placeOf(of),
    ...termsOf(of.event),
    affiliateFlag: false,
    routeRejectedFlag: false,
    multiLegInd: false,
  };
  if (isOption(of.event.order)) return { ...shared, ...originCode(of), openCloseIndicator: openCloseOf(of.event) };
  return { ...shared, isoInd: "NA", dupROIDCond: false };
}

function rejectedRoute(of: Case): CatFields {
  return { manualFlag: false, ...placeOf(of), routeRejectedFlag: true };
}

function modifiedRoute(of: Case): CatFields {
  const { details, order } = of.event;
  const prior = details.prior_routed_order_id;
  const shared = {
    manualFlag: false,
    ...placeOf(of),
    priorRoutedOrderID: prior && of.idOf(prior),
    ...termsOf(of.event),
    affiliateFlag: false,
    routeRejectedFlag: false,
    dupROIDCond: false,
    multiLegInd: false,
  };
  if (isOption(order)) return { ...shared, ...originCode(of), openCloseIndicator: openCloseOf(of.event) };
  return { ...shared, isoInd: "NA" };
}

function cancelledRoute(of: Case): CatFields {
  const { details, order } = of.event;
  return {
    manualFlag: false,
    cancelQty: numberOf(details.cancel_quantity ?? order.quantity),
    ...placeOf(of),
    routeRejectedFlag: false,
    multiLegInd: false,
  };
}

function modifiedOrder({ event }: Case): CatFields {
  const { details, order } = event;
  const shared = {
    manualFlag: false,
    electronicDupFlag: false,
    initiator: details.initiator ?? "F",
    ...termsOf(event),
    leavesQty: numberOf(details.leaves_quantity ?? order.quantity),
    representativeInd: "N",
  };
  if (isOption(order)) return { ...shared, openCloseIndicator: openCloseOf(event) };
  return { ...shared, isoInd: "NA", custDspIntrFlag: false };
}

function modifiedChild({ event }: Case): CatFields {
  const { details, order } = event;
  const shared = { ...termsOf(event), leavesQty: numberOf(details.leaves_quantity ?? order.quantity) };
  return isOption(order) ? { ...shared, openCloseIndicator: openCloseOf(event) } : shared;
}

function cancelledQuantities({ details, order }: RegulatoryEvent): CatFields {
  return {
    cancelQty: numberOf(details.cancel_quantity ?? order.quantity),
    leavesQty: numberOf(details.leaves_quantity ?? "0"),
  };
}

function cancelledOrder({ event }: Case): CatFields {
  return { manualFlag: false, ...cancelledQuantities(event), initiator: event.details.initiator ?? "F" };
}

function cancelledChild({ event }: Case): CatFields {
  return { side: sideOf(event.order), ...cancelledQuantities(event) };
}
