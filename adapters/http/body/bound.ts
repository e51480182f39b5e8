// What a route's body may hold, read once from its schema: how many entries each list, how many members each map, how many characters each text. A
// schema of which some part may be as long as it likes is a mistake of ours, and the route is not served.
import { z } from "zod";
import { type AnyMost, mostOf } from "../../../contracts/src/bounds/at-most.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import { longestMatch } from "./longest-match.ts";

/** Of one place in a body. What is not there cannot stand there, and the schema says so in its own words. */
export interface Bound {
  /** Of a text. */
  readonly characters?: number;
  /** A number, a boolean or null. */
  readonly scalar?: true;
  readonly list?: { readonly most: number; readonly each: Bound };
  readonly members?: Members;
  readonly any?: AnyMost & { readonly isObject: boolean };
}

interface Members {
  readonly most: number;
  readonly known: ReadonlyMap<string, Bound>;
  /** Those of any other name; without it they are unknown, and the schema names the first of them. */
  readonly others?: { readonly characters: number; readonly each: Bound };
}

/** Members that nobody knows: as many as an answer names. */
export const unknownMax = 20;
/** A text with a form of its own is told its form up to here, which helps more than its length. */
const formedMin = 256;

export function boundOf(schema: z.ZodType, place = "body"): Bound {
  const most = mostOf(schema);
  if (most !== undefined && "any" in most) return { any: { ...most.any, isObject: isObject(schema) } };
  if (most !== undefined && "characters" in most) return most;
  if (schema instanceof z.ZodArray) return listBound(schema, place);
  if (schema instanceof z.ZodObject) return objectBound(schema, place);
  if (schema instanceof z.ZodRecord) return recordBound(schema, place);
  if (schema instanceof z.ZodUnion) {
    return schema.options.map((one) => boundOf(one as z.ZodType, place)).reduce(wider, {});
  }
  if (schema instanceof z.ZodNullable) return wider(boundOf(schema.unwrap() as z.ZodType, place), { scalar: true });
  const inner = innerOf(schema);
  if (inner !== undefined) return boundOf(inner, place);
  if (scalars.some((known) => schema instanceof known)) return { scalar: true };
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return { characters: formedMin, scalar: true };
  return { characters: charactersOf(schema, place) };
}

const isObject = (schema: z.ZodType): boolean => schema instanceof z.ZodRecord || schema instanceof z.ZodObject;

function unbounded(place: string): Defect {
  return new Defect(
    `${place} may be as long as it likes: give it a maximum (max, or atMost of contracts/src/bounds/at-most.ts).`,
  );
}

const scalars = [z.ZodNumber, z.ZodBoolean, z.ZodNull, z.ZodUndefined, z.ZodNever];

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return schema.unwrap() as z.ZodType;
  if (schema instanceof z.ZodPipe) return schema.in as z.ZodType;
  return undefined;
}

interface Check {
  readonly check?: string;
  readonly maximum?: number;
  readonly length?: number;
  readonly pattern?: RegExp;
}

const checksOf = (schema: z.ZodType): readonly Check[] =>
  (schema._zod.def.checks ?? []).map((check) => check._zod.def as Check);

/** What the checks of a list or a text say of its length; infinite where none does. */
function lengthMaxOf(schema: z.ZodType): number {
  return Math.min(
    ...checksOf(schema).flatMap(({ check, maximum, length }) => {
      if (check === "max_length") return maximum ?? [];
      return check === "length_equals" ? (length ?? []) : [];
    }),
    Number.POSITIVE_INFINITY,
  );
}

/** The longest text of a format that is no pattern. */
const formats: Readonly<Record<string, number>> = { date: 10, "date-time": 64 };

function charactersOf(schema: z.ZodType, place: string): number {
  if (schema._zod.def.type !== "string") throw unbounded(place);
  const maximum = lengthMaxOf(schema);
  if (maximum < Number.POSITIVE_INFINITY) return maximum;
  const patterns = checksOf(schema).flatMap((check) => check.pattern ?? []);
  const { format = "", pattern } = z.globalRegistry.get(schema) ?? {};
  const described = typeof pattern === "string" ? [new RegExp(pattern)] : [];
  const longest = Math.min(
    ...[...patterns, ...described].map(longestMatch),
    formats[String(format)] ?? Number.POSITIVE_INFINITY,
  );
  if (longest === Number.POSITIVE_INFINITY) throw unbounded(place);
  return Math.max(longest, formedMin);
}

function listBound(schema: z.ZodArray, place: string): Bound {
  const most = mostOf(schema);
  const maximum = most !== undefined && "entries" in most ? most.entries : lengthMaxOf(schema);
  if (maximum === Number.POSITIVE_INFINITY) throw unbounded(place);
  return { list: { most: maximum, each: boundOf(schema.element as z.ZodType, `${place}[]`) } };
}

function objectBound(schema: z.ZodObject, place: string): Bound {
  const known = new Map(
    Object.entries(schema.shape).map(([name, inner]) => [name, boundOf(inner as z.ZodType, `${place}.${name}`)]),
  );
  const others = schema._zod.def.catchall;
  if (others === undefined || others instanceof z.ZodNever)
    return { members: { most: known.size + unknownMax, known } };
  const most = mostOf(schema);
  if (most === undefined || !("members" in most)) throw unbounded(place);
  const each = others instanceof z.ZodUnknown ? {} : boundOf(others as z.ZodType, `${place}.*`);
  return { members: { most: most.members, known, others: { characters: formedMin, each } } };
}

function recordBound(schema: z.ZodRecord, place: string): Bound {
  const most = mostOf(schema);
  if (most === undefined || !("members" in most)) throw unbounded(place);
  const { characters = formedMin } = boundOf(schema.keyType as z.ZodType, `${place}.NAME`);
  const each = boundOf(schema.valueType as z.ZodType, `${place}.*`);
  return { members: { most: most.members, known: new Map(), others: { characters, each } } };
}

/** What either of the two lets through. */
function wider(one: Bound, other: Bound): Bound {
  const characters = larger(one.characters, other.characters);
  const list =
    one.list === undefined || other.list === undefined ? (one.list ?? other.list) : widerList(one.list, other.list);
  const members =
    one.members === undefined || other.members === undefined
      ? (one.members ?? other.members)
      : widerMembers(one.members, other.members);
  const any = one.any ?? other.any;
  return {
    ...(one.scalar === true || other.scalar === true ? { scalar: true } : {}),
    ...(characters === undefined ? {} : { characters }),
    ...(list === undefined ? {} : { list }),
    ...(members === undefined ? {} : { members }),
    ...(any === undefined ? {} : { any }),
  };
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function widerList(one: NonNullable<Bound["list"]>, other: NonNullable<Bound["list"]>): NonNullable<Bound["list"]> {
  return { most: Math.max(one.most, other.most), each: wider(one.each, other.each) };
}

function widerMembers(one: Members, other: Members): Members {
  const names = new Set([...one.known.keys(), ...other.known.keys()]);
  const known = new Map(
    [...names].map((name) => [name, wider(one.known.get(name) ?? {}, other.known.get(name) ?? {})]),
  );
  const others = one.others ?? other.others;
  return {
    most: Math.max(one.most, other.most, names.size + unknownMax),
    known,
    ...(others === undefined ? {} : { others }),
  };
}

/** No body is larger, whatever it may hold: 0.1.0 took as much on every route. */
const bytesMax = 1_048_576;
/** Room for spaces and line breaks, of which a body may have as many as it has of anything else. */
const spaced = 2;
const bytesMin = 16_384;

/** The largest body that holds no more than that, in whole KiB. */
export function bodyBytesMaxOf(bound: Bound): number {
  const wanted = Math.min(bytesMax, Math.max(bytesMin, spaced * widest(bound)));
  return Math.ceil(wanted / 1_024) * 1_024;
}

/** A number, or a word. */
const scalarBytes = 64;
/** A character may be written as an escape. */
const characterBytes = 6;
/** Quotation marks, a colon, a comma. */
const aroundBytes = 6;

function widest({ characters = 0, list, members, any }: Bound): number {
  const forms = [scalarBytes, characters * characterBytes];
  if (list !== undefined) forms.push(list.most * (widest(list.each) + aroundBytes));
  if (any !== undefined) forms.push(any.characters * characterBytes + any.values * (scalarBytes + aroundBytes));
  if (members !== undefined) forms.push(widestMembers(members));
  return Math.min(bytesMax, Math.max(...forms) + aroundBytes);
}

function widestMembers({ most, known, others }: Members): number {
  const each = [...known].map(([name, inner]) => name.length + aroundBytes + widest(inner));
  const sum = each.reduce((all, one) => all + one, 0);
  if (others === undefined) return sum;
  return sum + most * (others.characters * characterBytes + aroundBytes + widest(others.each));
}

export interface BoundedPlace {
  /** "sector_limits_pct", "gaps[].missing". */
  readonly place: string;
  readonly most: number;
  readonly unit: "entries" | "members" | "values" | "characters";
}

/** Every place with a bound of its own, for the documentation. */
export function placesOf(bound: Bound, place = ""): readonly BoundedPlace[] {
  const { characters, list, members, any } = bound;
  const at = (name: string): string => (place === "" ? name : `${place}.${name}`);
  return [
    ...(characters === undefined ? [] : [{ place, most: characters, unit: "characters" as const }]),
    ...(list === undefined
      ? []
      : [{ place, most: list.most, unit: "entries" as const }, ...placesOf(list.each, `${place}[]`)]),
    ...(any === undefined
      ? []
      : [
          { place, most: any.values, unit: "values" as const },
          { place, most: any.characters, unit: "characters" as const },
        ]),
    ...(members?.others === undefined
      ? []
      : [{ place, most: members.most, unit: "members" as const }, ...placesOf(members.others.each, at("*"))]),
    ...[...(members?.known ?? [])].flatMap(([name, inner]) => placesOf(inner, at(name))),
  ];
}
