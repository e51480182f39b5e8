// What a person does about a record that the regulator has: it is repaired after a rejection, corrected, or withdrawn. Each is a record of its own.
//
//  1. What identifies a record and its order is never touched: a record about another order is another record.
//  2. A repair and a correction say the whole record again, and are held against its table like a new one.
import type { CorrectionAction } from "../../contracts/src/records/filing.ts";
import type { CatFields, CatValue } from "./cat/fields.ts";
import { readCatRecord, typedCatValue } from "./cat/read-record.ts";
import { catRecord } from "./cat/record.ts";
import type { FilingMistake } from "./mistake.ts";

const untouched = [
  "actionType",
  "type",
  "firmROEID",
  "errorROEID",
  "orderKeyDate",
  "orderID",
  "CATReporterIMID",
  "parentOrderKeyDate",
  "parentOrderID",
];

interface CorrectionOf {
  /** The line of the record that is corrected. */
  readonly line: string;
  /** Of its event, YYYY-MM-DD. */
  readonly date: string;
  readonly action: Exclude<CorrectionAction, "NEW">;
  /** As the regulator numbered the rejection: of a repair. */
  readonly errorRoeId?: string | undefined;
  /** Field and value, as they were typed. */
  readonly set: Readonly<Record<string, string>>;
}

type Corrected = { readonly line: string } | { readonly mistakes: readonly FilingMistake[] };

export function correctCatRecord({ line, date, action, errorRoeId, set }: CorrectionOf): Corrected {
  const fields = readCatRecord(line, date);
  if (action === "DEL") {
    const deleted = JSON.stringify({ actionType: action, firmROEID: fields["firmROEID"] });
    return { line: deleted };
  }
  const changed: Record<string, CatValue | undefined> = {};
  for (const [name, typed] of Object.entries(set)) {
    if (untouched.includes(name)) return wrong(name, `${name} is never changed.`);
    const value = typedCatValue(name, typed, String(fields["type"]), date);
    if (value === undefined) return wrong(name, `${name} is no field of it, or does not hold what was given.`);
    changed[name] = value.value;
  }
  const whole: CatFields = {
    ...fields,
    actionType: action,
    errorROEID: action === "RPR" && errorRoeId !== undefined ? { number: errorRoeId } : undefined,
    ...changed,
  };
  return catRecord(whole, date);
}

function wrong(field: string, sentence: string): Corrected {
  return { mistakes: [{ code: "FILING_FIELD_INVALID", field, sentence }] };
}
