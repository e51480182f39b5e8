// Free data in a request (google.protobuf.Struct) that the generated reader would change without a word: a member named __proto__ and a value of
// no kind vanish, of two members of one name or two kinds of one value only one stays, and what is no number has no JSON. What is recorded must be
// what was sent, so all of these are refused by the member's name. The bytes are walked once more for it; messages without free data are not.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Fault } from "../../contracts/src/fault.ts";
import { messageFields } from "./definitions.ts";
import type { DescribedField } from "./descriptor-set.ts";

const structType = "google.protobuf.Struct";
/** A halt is not refused for a figure in its evidence: what cannot be kept is mended or left out where it is read. */
const mendedTypes: ReadonlySet<string> = new Set(["svc.v1.HaltRequest"]);
const nameCharactersMax = 64;
const pathCharactersMax = 400;

/** Which members of each message lead to free data: only those are walked into. */
const leading: ReadonlyMap<string, readonly DescribedField[]> = leadingFields();

function leadingFields(): ReadonlyMap<string, readonly DescribedField[]> {
  const leads = new Set<string>([structType]);
  // Until nothing is added: messages may be declared in any order, and may hold themselves.
  for (let before = 0; before !== leads.size; ) {
    before = leads.size;
    for (const [message, fields] of messageFields) if (fields.some(({ type }) => leads.has(type))) leads.add(message);
  }
  return new Map(
    [...messageFields].flatMap(([message, fields]) => {
      const kept = fields.filter(({ type }) => leads.has(type));
      return kept.length === 0 || message.startsWith("google.protobuf.") ? [] : [[message, kept] as const];
    }),
  );
}

/** Refuses a request, known to be such a message, of which reading would lose something; says where. */
export function refuseLossyStructs(messageType: string, bytes: Uint8Array): void {
  const fields = leading.get(messageType);
  if (fields !== undefined && !mendedTypes.has(messageType)) walkMessage(fields, new BinaryReader(bytes), "");
}

function walkMessage(fields: readonly DescribedField[], reader: BinaryReader, path: string): void {
  const seen = new Set<string>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = fields.find((each) => each.number === number);
    if (field === undefined || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const place = memberOf(path, field.name);
    if (!field.isRepeated && seen.has(field.name)) throw refused(place, "stands there twice");
    seen.add(field.name);
    const inside = new BinaryReader(reader.bytes());
    if (field.type === structType) walkStruct(inside, place);
    else walkMessage(leading.get(field.type) ?? [], inside, place);
  }
}

function walkStruct(reader: BinaryReader, path: string): void {
  const seen = new Set<string>();
  while (reader.pos < reader.len) {
    const [number] = reader.tag();
    if (number !== 1) throw refused(path, "has a part that is no member");
    const { name, value } = readMember(new BinaryReader(reader.bytes()), path);
    const place = memberOf(path, name);
    if (name === "__proto__") throw refused(place, "has a name that is not taken here: choose another");
    if (seen.has(name)) throw refused(place, "stands there twice");
    seen.add(name);
    walkValue(new BinaryReader(value), place);
  }
}

function readMember(reader: BinaryReader, path: string): { readonly name: string; readonly value: Uint8Array } {
  let name: string | undefined;
  let value: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const [number] = reader.tag();
    if (number === 1 && name === undefined) name = reader.string();
    else if (number === 2 && value === undefined) value = reader.bytes();
    else throw refused(memberOf(path, name ?? ""), "has more than a name and a value");
  }
  return { name: name ?? "", value: value ?? new Uint8Array() };
}

function walkValue(reader: BinaryReader, path: string): void {
  if (reader.len === 0) throw refused(path, "has no value: null is one, nothing is none");
  const [kind, wireType] = reader.tag();
  switch (kind) {
    case 2:
      if (!Number.isFinite(reader.double())) throw refused(path, "is not a number that can be written");
      break;
    case 5:
      walkStruct(new BinaryReader(reader.bytes()), path);
      break;
    case 6:
      walkList(new BinaryReader(reader.bytes()), path);
      break;
    case 1:
    case 3:
    case 4:
      reader.skip(wireType, kind);
      break;
    default:
      throw refused(path, "has a value of a kind that is not known here");
  }
  if (reader.pos < reader.len) throw refused(path, "has more than one value");
}

function walkList(reader: BinaryReader, path: string): void {
  for (let index = 0; reader.pos < reader.len; index += 1) {
    const [number] = reader.tag();
    if (number !== 1) throw refused(path, "has a part that is no element");
    walkValue(new BinaryReader(reader.bytes()), `${path}[${index}]`);
  }
}

function memberOf(path: string, name: string): string {
  const shown = name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax)}…` : name;
  return path === "" ? shown : `${path}.${shown}`;
}

function refused(path: string, why: string): Fault {
  return new Fault("INVALID_ARGUMENT", `${path.slice(0, pathCharactersMax)} ${why}.`, { retry: "never" });
}
