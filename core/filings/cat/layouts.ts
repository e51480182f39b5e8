// CAT's tables: which fields an event has, which it must have, and what each may hold. They are chosen by the date of the event: version 4.1.0 until
// 2026-12-06, 4.2.0 from 2026-12-07 on.
import { equityLayouts } from "./equity-layouts.ts";
import { optionLayouts } from "./option-layouts.ts";

type CatVersion = "4.1.0" | "4.2.0";

const fieldTypes = [
  "time",
  "flag",
  "choice",
  "text64",
  "text40",
  "text20",
  "text4",
  "alnum40",
  "price",
  "quantity",
  "whole",
  "unsigned",
  "pairs",
  "imid",
  "member",
  "party",
  "symbol",
  "type",
] as const;
type FieldType = (typeof fieldTypes)[number];

export interface CatField {
  readonly name: string;
  readonly type: FieldType;
  readonly isRequired: boolean;
}

const firstDateOf420 = "2026-12-07";

const headOfAll =
  "actionType:choice! errorROEID:unsigned? firmROEID:text64! type:type! CATReporterIMID:imid? orderKeyDate:time! orderID:text64!";
const texts: Readonly<Record<string, string>> = {
  ...withHead(equityLayouts, `${headOfAll} symbol:symbol!`),
  ...withHead(optionLayouts, `${headOfAll} optionID:symbol!`),
};

const layouts: Readonly<Record<CatVersion, ReadonlyMap<string, readonly CatField[]>>> = {
  "4.1.0": layoutsOf("4.1.0"),
  "4.2.0": layoutsOf("4.2.0"),
};

/** In force for events of that date, YYYY-MM-DD. */
export function catVersion(eventDate: string): CatVersion {
  return eventDate < firstDateOf420 ? "4.1.0" : "4.2.0";
}

/** The fields of an event in their order; undefined for a type that is not made. */
export function layoutOf(type: string, eventDate: string): readonly CatField[] | undefined {
  return layouts[catVersion(eventDate)].get(type);
}

function withHead(of: Readonly<Record<string, string>>, head: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(of).map(([type, fields]) => [type, `${head} ${fields}`]));
}

function layoutsOf(version: CatVersion): ReadonlyMap<string, readonly CatField[]> {
  return new Map(Object.entries(texts).map(([type, text]) => [type, fieldsOf(text, version)]));
}

function fieldsOf(text: string, version: CatVersion): readonly CatField[] {
  return text
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const [, name = "", named = "", mark, until = ""] = /^(\w+):(\w+)([!?])(?:<([\d.]+))?$/.exec(word) ?? [];
      const type = fieldTypes.find((one) => one === named);
      if (type === undefined) throw new RangeError(`${word} is no field of a CAT layout`);
      return until !== "" && version >= until ? [] : [{ name, type, isRequired: mark === "!" }];
    });
}
