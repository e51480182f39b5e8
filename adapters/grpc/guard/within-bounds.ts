// What a request over gRPC may hold, from the same declarations as over HTTP: counted on its bytes, before they are decoded, hashed or kept.
//
//  1. A request that holds more than is declared reaches no codec: INVALID_ARGUMENT names the field and its bound.
//  2. A halt is not refused for its evidence: evidence of more than may be is left out, and the halt goes on.
//  3. A declaration without a bound is a mistake of ours: a process that would serve it does not start.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { BoundedField } from "../../../contracts/src/declared.ts";
import { Defect, Fault } from "../../../contracts/src/fault.ts";
import { requestBounds } from "../../../contracts/src/generated/bounds.ts";

const levelsMax = 64;
/** Beyond its bound this field is left out, and the rest of the message is taken. */
const leftOut: Readonly<Record<string, string>> = { HaltRequest: "evidence" };

interface Bounds {
  readonly byNumber: ReadonlyMap<number, Required<Pick<BoundedField, "most" | "characters">> & BoundedField>;
}

const bounds: ReadonlyMap<string, Bounds> = new Map(
  Object.entries(requestBounds).map(([message, fields]) => [message, { byNumber: byNumberOf(message, fields) }]),
);

function byNumberOf(message: string, fields: readonly BoundedField[]): Bounds["byNumber"] {
  return new Map(
    fields.map((field) => {
      const { most = field.form === "message" ? 1 : undefined, characters = 0 } = field;
      if (most === undefined) throw new Defect(`${message}.${field.name} may hold any amount: give it a max_count.`);
      return [field.number, { ...field, most, characters }];
    }),
  );
}

/** The request as it is taken; throws when it holds too much. Bytes that are no message are whoever's who decodes them. */
export function withinBounds(messageType: string, bytes: Uint8Array): Uint8Array {
  const name = messageType.slice(messageType.lastIndexOf(".") + 1);
  const known = bounds.get(name);
  if (known === undefined) return bytes;
  const spare = leftOut[name];
  const cut: Range[] = [];
  try {
    walkMessage(known, new BinaryReader(bytes), "", (field, range) => {
      if (field !== spare) return false;
      cut.push(range);
      return true;
    });
  } catch (thrown) {
    if (thrown instanceof Fault || thrown instanceof Defect) throw thrown;
    // No message: whoever decodes it next says so.
  }
  return cut.length === 0 ? bytes : without(bytes, cut);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Whether a field that holds too much is left out instead of being refused. */
type LeaveOut = (field: string, range: Range) => boolean;

function without(bytes: Uint8Array, cut: readonly Range[]): Uint8Array {
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const range of cut) {
    kept.push(bytes.subarray(from, range.from));
    from = range.to;
  }
  return Buffer.concat([...kept, bytes.subarray(from)]);
}

function walkMessage({ byNumber }: Bounds, reader: BinaryReader, path: string, leaveOut: LeaveOut): void {
  const counts = new Map<number, number>();
  while (reader.pos < reader.len) {
    const from = reader.pos;
    const [number, wireType] = reader.tag();
    const field = byNumber.get(number);
    if (field === undefined || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const place = path === "" ? field.name : `${path}.${field.name}`;
    const count = (counts.get(number) ?? 0) + 1;
    counts.set(number, count);
    if (field.form === "free") {
      const inside = new BinaryReader(reader.bytes());
      const excess = excessOf(inside, field);
      if (excess !== undefined && !leaveOut(place, { from, to: reader.pos })) throw refused(place, excess);
      continue;
    }
    if (field.form === "text") {
      const sent = unitsIn(reader.bytes(), field.most);
      if (sent > field.most) throw refused(place, `${field.most} characters, and ${sent} were sent`);
      continue;
    }
    if (field.form !== "message" && count > field.most) {
      throw refused(place, `${field.most} ${field.form === "map" ? "members" : "entries"}, and it has more`);
    }
    const inner = field.message === undefined ? undefined : bounds.get(field.message);
    if (inner === undefined) reader.skip(wireType, number);
    else walkMessage(inner, new BinaryReader(reader.bytes()), place, leaveOut);
  }
}

/** In UTF-16 units; its bytes where those are few enough already. */
function unitsIn(bytes: Uint8Array, most: number): number {
  if (bytes.length <= most) return bytes.length;
  return bytes.reduce((units, byte) => units + (byte < 0x80 || byte >= 0xc0 ? (byte >= 0xf0 ? 2 : 1) : 0), 0);
}

interface Spending {
  values: number;
  characters: number;
}

/** What is too much of free data; undefined when nothing is. */
function excessOf(
  reader: BinaryReader,
  { most, characters }: { readonly most: number; readonly characters: number },
): string | undefined {
  const left: Spending = { values: most, characters };
  const levels = spendStruct(reader, left, levelsMax);
  if (left.values < 0) return `${most} values, and it has more`;
  if (left.characters < 0) return `${characters} characters in its texts and names, and it has more`;
  return levels < 0 ? `${levelsMax} levels, and it has more` : undefined;
}

/** Ends as soon as too much is spent; the levels that are left. */
function spendStruct(reader: BinaryReader, left: Spending, levels: number): number {
  let fewest = levels;
  while (fewest >= 0 && reader.pos < reader.len && left.values >= 0 && left.characters >= 0) {
    reader.tag();
    const member = new BinaryReader(reader.bytes());
    left.values -= 1;
    while (member.pos < member.len) {
      const [number, wireType] = member.tag();
      if (wireType !== WireType.LengthDelimited) member.skip(wireType, number);
      else if (number === 1) left.characters -= charactersOf(member.bytes());
      else fewest = Math.min(fewest, spendValue(new BinaryReader(member.bytes()), left, levels));
    }
  }
  return fewest;
}

function spendValue(reader: BinaryReader, left: Spending, levels: number): number {
  let fewest = levels;
  while (fewest >= 0 && reader.pos < reader.len) {
    const [kind, wireType] = reader.tag();
    if (wireType !== WireType.LengthDelimited) reader.skip(wireType, kind);
    else if (kind === 3) left.characters -= charactersOf(reader.bytes());
    else if (levels === 0) return -1;
    else if (kind === 5) fewest = Math.min(fewest, spendStruct(new BinaryReader(reader.bytes()), left, levels - 1));
    else fewest = Math.min(fewest, spendList(new BinaryReader(reader.bytes()), left, levels - 1));
  }
  return fewest;
}

function spendList(reader: BinaryReader, left: Spending, levels: number): number {
  let fewest = levels;
  while (fewest >= 0 && reader.pos < reader.len && left.values >= 0 && left.characters >= 0) {
    reader.tag();
    left.values -= 1;
    fewest = Math.min(fewest, spendValue(new BinaryReader(reader.bytes()), left, levels));
  }
  return fewest;
}

const charactersOf = (bytes: Uint8Array): number => unitsIn(bytes, 0);

function refused(place: string, most: string): Fault {
  return new Fault("INVALID_ARGUMENT", `${place}: expected at most ${most}.`, { retry: "never" });
}
