// What each regulator's regime is to the rest: a name, one sentence, one pure function from an event to a record, and how records become a file.
//
//  1. What is reportable is a record or put aside; nothing else is dropped, and what is not reportable says why.
//  2. The same event makes the same record, and the same records the same bytes.
import type { Instant } from "../../contracts/src/instant.ts";
import type { FundFilings, RegimeName } from "../../contracts/src/records/filing.ts";
import type { FilingMistake } from "./mistake.ts";
import type { HexSha256, KnownInstrument, KnownOrders, RegimeRecord, RegulatoryEvent } from "./regulatory-event.ts";

export interface FilingRegime {
  readonly name: RegimeName;
  /** Of its submission files, and how their ids begin. */
  readonly folder: "cat" | "oats" | "mifid-ii";
  readonly sentence: string;
  /** Some regimes want to hear how an order began before anything else of it; others know trades alone. */
  readonly hearsBeginnings: boolean;
  /** Every answer about it has this code: nobody takes its records any more. */
  readonly answersWith?: string;
  /** What a record of the event's trade holds and no other's does; undefined where the regime knows no trades. */
  tradeMark?(event: RegulatoryEvent, sha256: HexSha256): string | undefined;
  isEnabled(fund: FundFilings): boolean;
  record(event: RegulatoryEvent, of: RecordContext): RegimeRecord;
  /** The date of the submission file, YYYY-MM-DD, of what happened at that moment. */
  submissionDate(at: Instant): string;
  /** Until when what happened at that moment is reported in time. */
  deadline(at: Instant): Instant;
  /** Until when a rejected record of it is repaired in time. */
  repairBy(at: Instant): Instant;
  readonly file: FileForm;
}

export interface RecordContext {
  readonly fund: FundFilings;
  readonly known: KnownOrders;
  /** Undefined for a symbol that the reference data do not have. */
  readonly instrument?: KnownInstrument | undefined;
  /** Every strategy's id: what two of them would share names neither. */
  readonly strategies: readonly string[];
  readonly sha256: HexSha256;
}

/** One file of a fund and day. */
interface FileToMake {
  readonly fund: FundFilings;
  /** Of the fund, as names of files have it: letters and digits alone, at most 20. */
  readonly group: string;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly number: number;
}

/** A file that is sealed: when, how many records it has, and who receives it. */
export interface FileToSeal extends FileToMake {
  readonly sealedAt: Instant;
  readonly records: number;
  /** As the header names it, where the regime has a header. */
  readonly receiver?: string | undefined;
}

/** A file is its head, each record's part and its tail, one after the other; UTF-8. */
interface FileForm {
  /** Without what compression adds: `.json`, `.xml` or `.fore`. Or what the fund's configuration lacks, each with its key as the field. */
  name(of: FileToMake): { readonly name: string } | { readonly mistakes: readonly FilingMistake[] };
  head(of: FileToSeal): string;
  /** One record, by its line; what is about a person is put in here and stands in no line. */
  part(line: string, persons: ReadonlyMap<string, FiledPerson>): string;
  tail(of: FileToSeal): string;
  /** The secrets `filings/persons/<name>` that a record's part needs. */
  personsOf(line: string): readonly string[];
}

/** Who a natural person is for a regulator. It is kept as a secret, and stands in the file alone. */
export interface FiledPerson {
  /** The country of the branch that the person belongs to, two letters. */
  readonly country: string;
  readonly nationalId: string;
  /** NIDN a national number, CCPT a passport, CONCAT what is made of name and birth. */
  readonly scheme: "NIDN" | "CCPT" | "CONCAT";
}
