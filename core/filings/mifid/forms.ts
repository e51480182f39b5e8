// The tables of a transaction report: which elements it has, in which order, and what each may hold. The same table checks a record and says what a document is.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { FilingMistake } from "../mistake.ts";
import { isCountry, isIsin, isLei, isMic } from "./identifiers.ts";

/** An element's content: a text, or elements by their names. `@Name` is an attribute and `#` the text beside it. */
export type Content = string | { readonly [name: string]: Content };

/** Stands for a person, whose identity enters with the document. */
export const personMark = "@person";

type Form =
  | { readonly kind: "text"; readonly expected: string; fits(text: string): boolean }
  | { readonly kind: "amount"; readonly digits: Digits }
  | { readonly kind: "sequence"; readonly members: readonly Member[] }
  | { readonly kind: "choice"; readonly members: readonly Member[] }
  | { readonly kind: "person" };

interface Member {
  readonly name: string;
  readonly form: Form;
  readonly isRequired: boolean;
}

interface Digits {
  readonly total: number;
  readonly fraction: number;
  readonly isZeroAllowed: boolean;
}

const text = (expected: string, fits: (text: string) => boolean): Form => ({ kind: "text", expected, fits });
const word = (...words: readonly string[]): Form => text(words.join(" or "), (one) => words.includes(one));
const pattern = (expected: string, form: RegExp): Form => text(expected, (one) => form.test(one));
const need = (name: string, form: Form): Member => ({ name, form, isRequired: true });
const may = (name: string, form: Form): Member => ({ name, form, isRequired: false });
const sequence = (...members: readonly Member[]): Form => ({ kind: "sequence", members });
const choice = (...members: readonly Member[]): Form => ({ kind: "choice", members });

const lei = text("an LEI with its check digits", isLei);
const mic = text("a MIC of four capitals or digits", isMic);
const isin = text("an ISIN with its check digit", isIsin);
const country = text("a country's two letters", isCountry);
const flag = word("true", "false");
const txId = pattern("1 to 52 capitals and digits", /^[A-Z0-9]{1,52}$/);
const algorithm = pattern("1 to 50 capitals and digits", /^[A-Z0-9]{1,50}$/);
const moment = pattern("a time of UTC", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
const unitDigits: Digits = { total: 18, fraction: 17, isZeroAllowed: false };
const priceDigits: Digits = { total: 18, fraction: 13, isZeroAllowed: true };
const quantity = text("a number above zero of at most 18 digits", (one) => isNumber(one, unitDigits));
const person: Form = { kind: "person" };

const account = sequence(need("Id", choice(need("LEI", lei), need("MIC", mic))), may("CtryOfBrnch", country));
const party = sequence(need("AcctOwnr", account), may("DcsnMakr", choice(need("LEI", lei))));
const price = sequence(need("Amt", { kind: "amount", digits: priceDigits }), may("Sgn", flag));
const trade = sequence(
  need("TradDt", moment),
  need("TradgCpcty", word("AOTC", "DEAL", "MTCH")),
  need("Qty", choice(need("Unit", quantity))),
  need("Pric", choice(need("Pric", choice(need("MntryVal", price))))),
  need("TradVn", mic),
  may("CtryOfBrnch", country),
);
const newReport = sequence(
  need("TxId", txId),
  need("ExctgPty", lei),
  need("InvstmtPtyInd", flag),
  need("SubmitgPty", lei),
  need("Buyr", party),
  need("Sellr", party),
  need("OrdrTrnsmssn", sequence(need("TrnsmssnInd", flag))),
  need("Tx", trade),
  need("FinInstrm", choice(need("Id", isin))),
  may("InvstmtDcsnPrsn", choice(need("Prsn", person), need("Algo", algorithm))),
  need("ExctgPrsn", choice(need("Prsn", person), need("Algo", algorithm))),
  need("AddtlAttrbts", sequence(may("ShrtSellgInd", word("SESH", "SELL")), need("SctiesFincgTxInd", flag))),
);
const cancellation = sequence(need("TxId", txId), need("ExctgPty", lei), need("SubmitgPty", lei));

/** One transaction: a new report, or the cancellation of one. */
const transaction = choice(need("New", newReport), need("Cxl", cancellation));

/** What is wrong with a transaction; nothing when the tables take it. */
export function transactionMistakes(content: Content): readonly FilingMistake[] {
  return [...mistakesOf(transaction, content, "")];
}

function* mistakesOf(form: Form, content: Content, path: string): Generator<FilingMistake> {
  switch (form.kind) {
    case "text":
      if (typeof content !== "string" || !form.fits(content)) yield invalid(path, `expected ${form.expected}`);
      return;
    case "amount":
      yield* amountMistakes(form.digits, content, path);
      return;
    case "person":
      if (typeof content === "string" || typeof content[personMark] !== "string") {
        yield invalid(path, "expected a person");
      }
      return;
    default:
      yield* memberMistakes(form, content, path);
  }
}

function* memberMistakes(
  { kind, members }: Extract<Form, { readonly members: readonly Member[] }>,
  content: Content,
  path: string,
): Generator<FilingMistake> {
  if (typeof content === "string") {
    yield invalid(path, "expected elements");
    return;
  }
  const named = (name: string): string => (path === "" ? name : `${path}/${name}`);
  const names = Object.keys(content);
  const known = members.filter(({ name }) => names.includes(name));
  for (const name of names) {
    if (!members.some((member) => member.name === name)) yield invalid(named(name), "the report has no such element");
  }
  if (kind === "choice" && known.length !== 1) yield missing(named(members.map(({ name }) => name).join(" or ")));
  if (kind === "sequence" && known.map(({ name }) => name).join() !== names.join()) {
    yield invalid(path, "its elements stand in another order");
  }
  for (const { name, form, isRequired } of members) {
    const held = content[name];
    if (held !== undefined) yield* mistakesOf(form, held, named(name));
    else if (kind === "sequence" && isRequired) yield missing(named(name));
  }
}

function* amountMistakes(digits: Digits, content: Content, path: string): Generator<FilingMistake> {
  if (typeof content === "string") {
    yield invalid(path, "expected an amount with its currency");
    return;
  }
  const { "@Ccy": currency, "#": amount } = content;
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency))
    yield invalid(`${path}/@Ccy`, "expected a currency");
  if (typeof amount !== "string" || !isNumber(amount, digits)) {
    yield invalid(path, `expected a number of at most ${digits.total} digits, ${digits.fraction} after the point`);
  }
}

/** Digits as XML Schema counts them: without leading zeros, and without those at the end of a fraction. */
function isNumber(one: string, { total, fraction, isZeroAllowed }: Digits): boolean {
  if (!/^(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(one)) return false;
  const parsed = decimal.tryParse(one);
  if (parsed === undefined || parsed < 0n || (parsed === 0n && !isZeroAllowed)) return false;
  const [whole = "", after = ""] = decimal.format(parsed).split(".");
  return (whole === "0" ? 0 : whole.length) + after.length <= total && after.length <= fraction;
}

function missing(field: string): FilingMistake {
  return { code: "FILING_FIELD_MISSING", field, sentence: `${field} is missing.` };
}

function invalid(field: string, what: string): FilingMistake {
  return { code: "FILING_FIELD_INVALID", field, sentence: `${field}: ${what}.` };
}
