// Reads a CAT record's line back into what its fields hold, so that one that is corrected is held against its table like a new one.
//
//  1. What a line that we made says, written again, is the same line.
import { momentOn } from "../../../contracts/src/calendar.ts";
import { usEquities } from "../../../contracts/src/calendars.ts";
import {
  fromMicroseconds,
  type Instant,
  plusMicroseconds,
  tryParse,
  tryParseDate,
} from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { catPairs } from "./choices.ts";
import type { CatFields, CatValue, PairValue } from "./fields.ts";
import { type CatField, layoutOf } from "./layouts.ts";

/** A member of a line with its text, so that no number passes through a float. */
const member = /"(\w+)":("[^"\\]*(?:\\.[^"\\]*)*"|\{[^{}]*\}|[^,{}]+)/g;

/** Of a line that `catRecord` made. */
export function readCatRecord(line: string, eventDate: string): CatFields {
  const members = membersOf(line);
  const type = textOf(members.get("type") ?? '""');
  const fields: Record<string, CatValue | undefined> = {};
  for (const field of layoutOf(type, eventDate) ?? []) {
    const text = members.get(field.name);
    if (text !== undefined) fields[field.name] = valueIn(field, text);
  }
  return fields;
}

/** What a person typed for a field; undefined where it is nothing that the field holds. An empty text takes the field away. */
export function typedCatValue(
  name: string,
  typed: string,
  type: string,
  eventDate: string,
): { value: CatValue | undefined } | undefined {
  const field = layoutOf(type, eventDate)?.find((one) => one.name === name);
  if (field === undefined) return undefined;
  if (typed === "") return { value: undefined };
  if (field.type === "time") {
    const at = tryParse(typed);
    return at === undefined ? undefined : { value: { time: at } };
  }
  const isBare = field.type === "pairs" || isNumber(field) || field.type === "flag";
  const value = valueIn(field, isBare ? typed : JSON.stringify(typed));
  return value === undefined ? undefined : { value };
}

function isNumber({ type }: CatField): boolean {
  return type === "price" || type === "quantity" || type === "whole" || type === "unsigned";
}

function valueIn(field: CatField, text: string): CatValue | undefined {
  if (field.type === "flag") return text === "true" ? true : text === "false" ? false : undefined;
  if (isNumber(field)) return { number: text };
  if (field.type === "time") {
    const time = timeOf(text);
    return time === undefined ? undefined : { time };
  }
  if (field.type !== "pairs") return textOf(text);
  const pairs = [...membersOf(text)].map(([name, held]) => [name, pairOf(catPairs[field.name]?.[name], held)] as const);
  if (pairs.length === 0 || pairs.some(([, value]) => value === undefined)) return undefined;
  return { pairs: Object.fromEntries(pairs) as Record<string, PairValue> };
}

function pairOf(form: string | undefined, text: string): PairValue | undefined {
  if (form === "flag") return text === "true" ? true : undefined;
  if (form === "price") return { number: text };
  const time = form === "time" ? timeOf(text) : undefined;
  if (form === "time") return time === undefined ? undefined : { time };
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(text) ?? [];
  return form === "date" && year !== undefined ? { date: `${year}-${month}-${day}` } : undefined;
}

/** "20261113T093000.000001" on New York's wall clock, or nanoseconds since 1970. */
function timeOf(text: string): Instant | undefined {
  if (/^\d{16,19}$/.test(text)) return fromMicroseconds(Number(BigInt(text) / 1_000n));
  const [, date = "", hours, minutes, seconds, micros] = /^"(\d{8})T(\d\d)(\d\d)(\d\d)\.(\d{6})"$/.exec(text) ?? [];
  const day = tryParseDate(`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`);
  if (day === undefined) return undefined;
  const second = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return plusMicroseconds(momentOn(usEquities, day, second), Number(micros));
}

function membersOf(text: string): ReadonlyMap<string, string> {
  const inside = text.startsWith("{") ? text.slice(1) : text;
  return new Map([...inside.matchAll(member)].map(([, name = "", value = ""]) => [name, value]));
}

function textOf(json: string): string {
  const read = parseJson(json);
  return typeof read === "string" ? read : "";
}
