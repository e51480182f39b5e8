// Records with decimals and moments as JSON for a column, and back: decimals stand as text under the names that are given, everything else as it is.
import * as decimal from "../../contracts/src/decimal.ts";

/** The record with the named members, wherever they lie, written as text. */
export function toStored(record: object): string {
  return JSON.stringify(record, (_name, value: unknown) =>
    typeof value === "bigint" ? decimal.format(value as decimal.Decimal) : value,
  );
}

/** What `toStored` wrote; only these members are decimals. */
export function fromStored<Record>(content: unknown, decimals: ReadonlySet<string>): Record {
  return revived(content, decimals) as Record;
}

function revived(value: unknown, decimals: ReadonlySet<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((member) => revived(member, decimals));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      decimals.has(name) && typeof member === "string" ? decimal.parse(member) : revived(member, decimals),
    ]),
  );
}
