// Why a record is put aside instead of being reported, and why an event is not taken. What has a number of the regulator's own carries that number.
import { type AnswerCode, denial } from "./shape.ts";

export const filingDenials = {
  FILING_EVENT_CHANGED: denial(
    "The event was recorded before under the same event_id with other content; the first one counts.",
    "ABORTED",
  ),
  FILING_ORDER_ELSEWHERE: denial(
    "The order is recorded by itself, from what order management publishes: it is not reported by call as well.",
    "FAILED_PRECONDITION",
  ),
  FILING_FIELD_MISSING: denial("A record has no value for a field that the regime requires.", "FAILED_PRECONDITION"),
  FILING_FIELD_INVALID: denial("A field of a record holds what the regime does not take.", "FAILED_PRECONDITION"),
  FILING_ORDER_UNKNOWN: denial("A record names an order of which no record says how it began.", "FAILED_PRECONDITION"),
  FILING_ORDER_KNOWN: denial("An order is reported as new that was reported before.", "FAILED_PRECONDITION"),
  FILING_DESTINATION_UNKNOWN: denial(
    "A route goes to a venue or broker that the fund's `compliance.cat_destinations` does not have.",
    "FAILED_PRECONDITION",
  ),
  FILING_VENUE_UNKNOWN: denial(
    "A trade happened at a venue or broker that the fund's `compliance.mifid_venues` does not have.",
    "FAILED_PRECONDITION",
  ),
  FILING_ISIN_MISSING: denial("The reference data have no isin of an instrument.", "FAILED_PRECONDITION"),
  FILING_TRADE_KNOWN: denial("A trade is reported that was reported before.", "FAILED_PRECONDITION"),
  FILING_TRADE_UNKNOWN: denial("A trade is taken back of which there is no report.", "FAILED_PRECONDITION"),
  FILING_REGIME_RETIRED: denial(
    "Nobody takes the regime's records any more: they are kept as an archive and cannot be handed in.",
    "FAILED_PRECONDITION",
  ),
  FILING_IDENTITY_INCOMPLETE: denial(
    "The fund's configuration lacks what the regime identifies it by.",
    "FAILED_PRECONDITION",
  ),
  FILING_NOT_REPORTABLE: denial(
    "The regime takes no such event, of anybody or of this reporter; nothing is kept.",
    "FAILED_PRECONDITION",
  ),
  FILING_MODE_MISMATCH: denial(
    "Records of a paper fund never go where production is, nor those of a live fund where tests are.",
    "FAILED_PRECONDITION",
  ),
  FILING_REGIME_NOT_SEALED: denial(
    "Files of that regime are not sealed by the platform: fetch one and hand it in.",
    "FAILED_PRECONDITION",
  ),
  FILING_NOTHING_TO_SEAL: denial("Nothing was recorded that is not in a sealed file.", "FAILED_PRECONDITION"),
  FILING_NOT_THE_RECORDS: denial(
    "The day's submission file holds something else than its records: it is not sealed before that is settled.",
    "FAILED_PRECONDITION",
  ),
  FILING_NOT_SEALED: denial("The submission file is not sealed: seal it first.", "FAILED_PRECONDITION"),
  FILING_NO_TRANSPORT: denial(
    "The configuration names no way to the regulator (`filings.cat.transport`).",
    "FAILED_PRECONDITION",
  ),
  FILING_UPLOAD_REFUSED: denial(
    "The file did not get to the regulator's folder: it cannot be reached, or something else lies there under that name.",
    "FAILED_PRECONDITION",
  ),
  FILING_NOT_CORRECTABLE: denial(
    "The record is not in a state in which that correction says anything, or what is to be set cannot be changed.",
    "FAILED_PRECONDITION",
  ),
  FILING_STILL_WRONG: denial(
    "What the correction makes of the record would be refused as well.",
    "FAILED_PRECONDITION",
  ),
} as const satisfies Readonly<Record<string, AnswerCode>>;
