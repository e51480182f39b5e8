// What is reported to a regulator: the events of an order's life as they are told to us, the records that are made of them, and what the audit log keeps.
import { z } from "zod";
import type { Instant } from "../instant.ts";
import {
  countNumber,
  currencyText,
  dateText,
  decimalText,
  hashText,
  idText,
  instantText,
  lineText,
  nameText,
  nonNegativeDecimalText,
  positiveDecimalText,
  reasonText,
  symbolText,
} from "./fields.ts";
import { assetClass, fundMode, type OrderState, orderType, side, tif } from "./values.ts";

export const filingRegime = z.enum(["CAT", "OATS", "MIFID-II"]);
export type RegimeName = z.infer<typeof filingRegime>;

/** What can happen to an order that a regulator may want to know. */
export const filedEventType = z.enum([
  "new_order",
  "order_received",
  "child_order",
  "order_routed",
  "route_rejected",
  "order_modified",
  "route_modified",
  "order_cancelled",
  "route_cancelled",
  "fill",
  "fill_busted",
]);
export type FiledEventType = z.infer<typeof filedEventType>;

/** The terms of an order after the event; what else an order has is no part of a record. */
export const filedOrder = z.object({
  order_id: idText,
  fund_id: idText,
  symbol: symbolText,
  side,
  quantity: positiveDecimalText,
  order_type: orderType,
  limit_price: decimalText.optional(),
  stop_price: decimalText.optional(),
  tif,
  expires_at: instantText.optional(),
  broker: nameText,
  asset_class: assetClass,
  venue: nameText.optional(),
  currency: currencyText.optional(),
});
export type FiledOrder = z.infer<typeof filedOrder>;

/** What an event says beyond its order: these and no others. */
export const filedDetails = z.strictObject({
  /** Names the event for its source: the same one again is the same event. */
  event_id: lineText(200).min(1).optional(),
  /** When it happened; now when absent. */
  event_timestamp: instantText.optional(),
  /** Of a child order: the order that it is a part of. */
  parent_order_id: idText.optional(),
  /** How the route is called where it was sent to; the order's id when absent. */
  routed_order_id: lineText(128).min(1).optional(),
  /** Of a modified route: how it was called before, where that changed. */
  prior_routed_order_id: lineText(128).min(1).optional(),
  cancel_quantity: positiveDecimalText.optional(),
  leaves_quantity: nonNegativeDecimalText.optional(),
  fill_id: idText.optional(),
  quantity: positiveDecimalText.optional(),
  price: decimalText.optional(),
  /** C for the customer, F for the firm. */
  initiator: z.enum(["C", "F"]).optional(),
  /** Of an order that another reporter sent: whose it is. */
  sender_imid: lineText(16).min(1).optional(),
  sender_type: z.enum(["E", "F", "O"]).optional(),
  open_close: z.enum(["Open", "Close"]).optional(),
  trading_session: z.enum(["FOR", "PRE", "PREREG", "REG", "REGPOST", "POST", "PREPOST", "ALL"]).optional(),
});
export type FiledDetails = z.infer<typeof filedDetails>;

/** A record was written down: into the day's submission file, or aside because the regulator would refuse it. */
export const filingRecorded = z.object({
  record_id: lineText(200),
  regime: filingRegime,
  fund_id: idText,
  mode: fundMode,
  submission_date: dateText,
  /** Its place in the file, from 0. */
  line: countNumber,
  status: z.enum(["WRITTEN", "QUARANTINED"]),
  /** As the regime names the event. */
  type: z.string().max(16),
  order_id: idText,
  /** Who reported it. */
  source: lineText(200).min(1),
  event_at: instantText,
  deadline: instantText,
  late: z.boolean(),
  /** Of the line's bytes, its end not among them. */
  sha256: hashText,
  /** Of one that is quarantined: why. */
  code: z.string().max(64).optional(),
  at: instantText,
});

/** Where CAT says that orders to a venue or broker go. */
export interface CatDestination {
  /** A display facility, an exchange, a firm (F, O), or a broker abroad. */
  readonly type: "D" | "E" | "F" | "N" | "O";
  /** The exchange's id, or `CRD:IMID` of a firm; none for a broker abroad. */
  readonly id?: string | undefined;
  /** The session by which orders go to an exchange. */
  readonly session?: string | undefined;
  /** Of options at an exchange. */
  readonly exch_origin_code?: string | undefined;
}

/** What a fund's configuration says for its CAT records. */
export interface CatSettings {
  /** The CAT submitter id: the first word of a file's name. */
  readonly submitterId?: string | undefined;
  readonly imid?: string | undefined;
  readonly crd?: string | undefined;
  readonly fdid: string;
  readonly accountHolderType: string;
  readonly deptType: string;
  /** By venue or broker. */
  readonly destinations: Readonly<Record<string, CatDestination>>;
}

/** What a fund's configuration says for each regime that it is enabled for; a regime that is not in it gets nothing. */
export interface FundFilings {
  readonly cat?: CatSettings | undefined;
  readonly mifid?: MifidSettings | undefined;
  readonly oats?: OatsSettings | undefined;
}

/** What a fund's configuration says for its MiFID II records. */
export interface MifidSettings {
  /** Of the firm that executes. */
  readonly lei?: string | undefined;
  readonly submitterLei?: string | undefined;
  readonly fundLei?: string | undefined;
  /** Of the firm's branch, two letters. */
  readonly country?: string | undefined;
  /** By venue or broker: where its trades happen, and who stands on the other side; the venue itself where nobody is named. */
  readonly venues: Readonly<Record<string, MifidVenue>>;
}

export interface MifidVenue {
  readonly mic: string;
  readonly counterparty_lei?: string | undefined;
}

/** What stands in the archives of a fund that keeps OATS records. */
export interface OatsSettings {
  /** The firm's id in the records. */
  readonly mpid?: string | undefined;
}

/** What a fill says of its trade. */
export interface FiledTrade {
  readonly fillId: string;
  readonly side: FiledOrder["side"];
  readonly quantity: string;
  readonly price: string;
  readonly venue?: string | undefined;
  readonly broker?: string | undefined;
  readonly currency?: string | undefined;
}

/** What an order's life is made of, as order management published it. `id` is the event's. */
export type LifeStep =
  | {
      readonly kind: "created";
      readonly id: string;
      readonly at: Instant;
      readonly order: FiledOrder;
      /** A foreign system may not tell that it sends an order, only that it works. */
      readonly isForeign?: boolean | undefined;
      readonly strategyId?: string | undefined;
      /** Who handed it in, as records name it; of a foreign system who wants it, as it claims. */
      readonly givenBy?: string | undefined;
    }
  | {
      /** Approved by the risk engine. */
      readonly kind: "decided";
      readonly id: string;
      readonly at: Instant;
      readonly order: FiledOrder;
    }
  | {
      readonly kind: "moved";
      readonly id: string;
      readonly at: Instant;
      readonly to: OrderState;
      readonly filledQuantity: string;
      /** Terms, where they changed or the order went out. */
      readonly terms?: Partial<Pick<FiledOrder, "quantity" | "limit_price" | "stop_price">> | undefined;
      readonly parentOrderId?: string | undefined;
      readonly code?: string | undefined;
      /** The person who asked for it to be cancelled. */
      readonly askedBy?: string | undefined;
    }
  | {
      readonly kind: "filled";
      readonly id: string;
      readonly at: Instant;
      /** Kept where a regime wants trades. */
      readonly trade?: FiledTrade | undefined;
      /** The blocks that it was booked with: it is reported when all of them have ended. */
      readonly waitsFor?: readonly string[] | undefined;
    }
  /** A trade was taken back. */
  | { readonly kind: "busted"; readonly id: string; readonly at: Instant; readonly fillId: string }
  /** A block of a fill has ended. */
  | {
      readonly kind: "accepted";
      readonly id: string;
      readonly at: Instant;
      readonly fillId: string;
      readonly blockId: string;
    }
  /** Kept under a block's own name: which order's fill it is about. */
  | {
      readonly kind: "blocked";
      readonly id: string;
      readonly at: Instant;
      readonly orderId: string;
      readonly fillId: string;
    }
  /** A slice of it was taken in. */
  | { readonly kind: "sliced"; readonly id: string; readonly at: Instant };

/** A person reviewed a day: what was found then. */
export const filingReviewed = z.object({
  regime: filingRegime,
  fund_id: idText,
  submission_date: dateText,
  reviewed_by: nameText,
  reason: reasonText,
  expected: countNumber,
  recorded: countNumber,
  by_call: countNumber,
  quarantined: countNumber,
  not_reportable: countNumber,
  before_enabled: countNumber,
  pending: countNumber,
  missing: countNumber,
  unexpected: countNumber,
  different: countNumber,
  /** Records and files that are not what they must be. */
  findings: countNumber,
  /** The newest entry of the audit log that was read. */
  audited_until: instantText,
  at: instantText,
});

/** A fund was enabled for a regime, or it is not any more. */
export const filingSwitched = z.object({
  regime: filingRegime,
  fund_id: idText,
  enabled: z.boolean(),
  at: instantText,
});

const filingNumber = countNumber.min(1);
const fileName = lineText(200).min(1);
const filingId = lineText(200).min(1);
/** Who did it: a person as entries name one, or the platform by itself. */
const doneBy = lineText(200).min(1);

/** A submission file was sealed: its bytes are what they are for good, and what comes later goes into the next one. */
export const filingSealed = z.object({
  filing_id: filingId,
  regime: filingRegime,
  fund_id: idText,
  mode: fundMode,
  submission_date: dateText,
  number: filingNumber,
  name: fileName,
  records: countNumber,
  bytes: countNumber,
  /** Of the bytes that are handed in. */
  sha256: hashText,
  sealed_by: doneBy,
  reason: lineText(2_000).optional(),
  at: instantText,
});

/** A sealed file reached the regulator's folder, or a person says that it went another way. */
export const filingUploaded = z.object({
  filing_id: filingId,
  regime: filingRegime,
  fund_id: idText,
  name: fileName,
  sha256: hashText,
  /** It was brought there now, it lay there already with the same bytes, or it went by hand. */
  how: z.enum(["SENT", "THERE", "BY_HAND"]),
  uploaded_by: doneBy,
  reason: lineText(2_000).optional(),
  at: instantText,
});

/** A feedback file of the regulator was read, or it changed nothing. */
export const filingFeedback = z.object({
  regime: filingRegime,
  /** Of the feedback file. */
  name: fileName,
  sha256: hashText,
  /** FOREIGN: about no file of ours. */
  outcome: z.enum(["TAKEN", "UNREADABLE", "FOREIGN"]),
  /** What it is about; absent where it is about nothing of ours, or about records of several files. */
  filing_id: filingId.optional(),
  fund_id: idText.optional(),
  /** ack, integrity, ingestion, ingestion-error or linkage-error. */
  stage: z.string().max(32).optional(),
  status: z.enum(["Success", "Failure"]).optional(),
  code: z.string().max(64).optional(),
  /** Records of ours that it rejects. */
  rejected: countNumber,
  /** Why it changed nothing. */
  problem: lineText(2_000).optional(),
  at: instantText,
});

export const correctionAction = z.enum(["NEW", "RPR", "COR", "DEL"]);
export type CorrectionAction = z.infer<typeof correctionAction>;

/** A record was repaired, corrected, withdrawn, or judged again. */
export const filingCorrected = z.object({
  /** What it is about. */
  record_id: lineText(200),
  /** The record that says so; absent of one that was put aside and is dismissed. */
  correction_id: lineText(200).optional(),
  regime: filingRegime,
  fund_id: idText,
  order_id: idText,
  action: correctionAction,
  /** Members that were changed, by their names. */
  changed: z.array(z.string().max(64)).max(64),
  corrected_by: doneBy,
  reason: lineText(2_000),
  at: instantText,
});
