// Which file of a schema names what, for reflection: read from the compiled descriptors with the protobuf runtime's own reader, in a few milliseconds. A
// library that decoded, linked and encoded them again took a third of a second of the engine's loop, for a stranger's first question.
import type { BinaryReader } from "@bufbuild/protobuf/wire";
import { eachField } from "../descriptor-set.ts";

export interface SchemaIndex {
  /** The file and all that it imports, as they were compiled; undefined when there is none. */
  byName(name: string): readonly Uint8Array[] | undefined;
  bySymbol(symbol: string): readonly Uint8Array[] | undefined;
  byExtension(extended: string, number: number): readonly Uint8Array[] | undefined;
  /** The numbers by which a message is extended; undefined when it is not. */
  extensionsOf(extended: string): readonly number[] | undefined;
}

interface SchemaFile {
  readonly bytes: Uint8Array;
  readonly imports: readonly string[];
}

interface Found {
  readonly symbols: Map<string, SchemaFile>;
  /** By the message that is extended, and then by number. */
  readonly extensions: Map<string, Map<number, SchemaFile>>;
}

/** Numbers of members in google/protobuf/descriptor.proto, by what holds them. */
const inFile = { name: 1, package: 2, import: 3, message: 4, enum: 5, service: 6, extension: 7 } as const;
const inMessage = { name: 1, field: 2, message: 3, enum: 4, extension: 6, oneOf: 8 } as const;

export function schemaIndex(files: readonly Uint8Array[]): SchemaIndex {
  const named = new Map<string, SchemaFile>();
  const found: Found = { symbols: new Map(), extensions: new Map() };
  for (const bytes of files) {
    const imports: string[] = [];
    const file = { bytes, imports };
    const { name, within } = headOf(bytes, imports);
    if (named.has(name)) continue;
    named.set(name, file);
    readFile(bytes, within, file, found);
  }
  const withImports = (file: SchemaFile | undefined): readonly Uint8Array[] | undefined => {
    if (file === undefined) return undefined;
    const all = new Set([file]);
    // A set hands out what is added while it is walked.
    for (const one of all) {
      for (const name of one.imports) {
        const imported = named.get(name);
        if (imported !== undefined) all.add(imported);
      }
    }
    return [...all].map(({ bytes }) => bytes);
  };
  return {
    byName: (name) => withImports(named.get(name)),
    bySymbol: (symbol) => withImports(found.symbols.get(symbol)),
    byExtension: (extended, number) => withImports(found.extensions.get(extended)?.get(number)),
    extensionsOf: (extended) => {
      const numbers = found.extensions.get(extended);
      return numbers === undefined ? undefined : [...numbers.keys()];
    },
  };
}

function headOf(bytes: Uint8Array, imports: string[]): { readonly name: string; readonly within: string } {
  const head = { name: "", within: "" };
  eachField(bytes, (number, reader) => {
    if (number === inFile.name) head.name = reader.string();
    else if (number === inFile.package) head.within = `${reader.string()}.`;
    else if (number === inFile.import) imports.push(reader.string());
    else return false;
    return true;
  });
  return head;
}

function readFile(bytes: Uint8Array, within: string, file: SchemaFile, found: Found): void {
  eachField(bytes, (number, reader) => {
    if (number === inFile.message) readMessage(reader.bytes(), within, file, found);
    else if (number === inFile.enum) readEnum(reader.bytes(), within, file, found);
    else if (number === inFile.service) readNamed(reader.bytes(), within, file, found, [2]);
    else if (number === inFile.extension) readExtension(reader.bytes(), within, file, found);
    else return false;
    return true;
  });
}

function readMessage(bytes: Uint8Array, within: string, file: SchemaFile, found: Found): void {
  const inside = `${readNamed(bytes, within, file, found, [inMessage.field, inMessage.oneOf])}.`;
  eachField(bytes, (number, reader) => {
    if (number === inMessage.message) readMessage(reader.bytes(), inside, file, found);
    else if (number === inMessage.enum) readEnum(reader.bytes(), inside, file, found);
    else if (number === inMessage.extension) readExtension(reader.bytes(), inside, file, found);
    else return false;
    return true;
  });
}

/** Its values stand beside it, as the language has it, and are found below it as well, as other servers do. */
function readEnum(bytes: Uint8Array, within: string, file: SchemaFile, found: Found): void {
  readNamed(bytes, within, file, found, [2]);
  for (const name of namesOf(bytes, [2])) found.symbols.set(`${within}${name}`, file);
}

/** What has a name and holds others that have one, in the members of these numbers. Its full name. */
function readNamed(
  bytes: Uint8Array,
  within: string,
  file: SchemaFile,
  found: Found,
  holding: readonly number[],
): string {
  const fullName = `${within}${textOf(bytes, 1)}`;
  found.symbols.set(fullName, file);
  for (const name of namesOf(bytes, holding)) found.symbols.set(`${fullName}.${name}`, file);
  return fullName;
}

function namesOf(bytes: Uint8Array, holding: readonly number[]): readonly string[] {
  const names: string[] = [];
  eachField(bytes, (number, reader) => holding.includes(number) && names.push(textOf(reader.bytes(), 1)) > 0);
  return names;
}

function readExtension(bytes: Uint8Array, within: string, file: SchemaFile, found: Found): void {
  found.symbols.set(`${within}${textOf(bytes, 1)}`, file);
  const extended = textOf(bytes, 2).replace(/^\./, "");
  let number = 0;
  eachField(bytes, (field, reader) => field === 3 && isRead(reader, (value) => (number = value)));
  const numbers = found.extensions.get(extended) ?? new Map<number, SchemaFile>();
  found.extensions.set(extended, numbers.set(number, file));
}

function isRead(reader: BinaryReader, take: (value: number) => void): true {
  take(reader.int32());
  return true;
}

function textOf(bytes: Uint8Array, wanted: number): string {
  let text = "";
  eachField(bytes, (number, reader) => {
    if (number !== wanted) return false;
    text = reader.string();
    return true;
  });
  return text;
}
