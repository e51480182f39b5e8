// How folders and files of a fund's submissions are called. A name holds letters, digits and `_ . -` alone and leads nowhere else.
import type { RegimeName } from "../../contracts/src/records/filing.ts";
import { regimeOf, regimes } from "./index.ts";
import type { HexSha256 } from "./regulatory-event.ts";

const safeName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const lettersMax = 12;
const hashDigits = 8;
/** Of the files of a fund and day the first. */
export const firstNumber = 1;

/** The fund's id; of one that a folder cannot be called by, what of it can be, and a hash that tells it apart. */
export function folderOfFund(fundId: string, sha256: HexSha256): string {
  return isSafeName(fundId) ? fundId : hashedName(fundId, sha256);
}

export function isSafeName(name: string): boolean {
  return safeName.test(name) && !name.includes("..");
}

/** What of an id can be part of any name, and a hash that tells it apart. */
export function hashedName(fundId: string, sha256: HexSha256): string {
  const letters = fundId.replace(/[^A-Za-z0-9]/g, "").slice(0, lettersMax);
  return `${letters}${sha256(fundId).slice(0, hashDigits)}`;
}

/** Names one submission file; in its order the files of a fund follow each other. */
export function filingId(regime: RegimeName, fundId: string, date: string, number: number): string {
  return `${regimeOf(regime).folder}.${fundId}.${date}.${String(number).padStart(6, "0")}`;
}

/** The regime, fund, date and number of a file's name; undefined for what is none. */
export function readFilingId(id: string):
  | {
      readonly regime: RegimeName;
      readonly fundId: string;
      readonly date: string;
      readonly number: number;
    }
  | undefined {
  const [, folder, fundId, date, digits] = /^([a-z-]+)\.(.+)\.(\d{4}-\d{2}-\d{2})\.(\d{6})$/.exec(id) ?? [];
  const regime = regimes.find((one) => one.folder === folder)?.name;
  if (regime === undefined || fundId === undefined || date === undefined) return undefined;
  return { regime, fundId, date, number: Number(digits) };
}

/** Names one record by its place: the line of the day's events, or of what was put aside. */
export function recordId(of: {
  readonly regime: RegimeName;
  readonly fundId: string;
  readonly date: string;
  readonly status: "WRITTEN" | "QUARANTINED";
  readonly line: number;
}): string {
  const aside = of.status === "WRITTEN" ? "" : "q";
  return `${regimeOf(of.regime).folder}.${of.fundId}.${of.date}.${aside}${String(of.line).padStart(9, "0")}`;
}
