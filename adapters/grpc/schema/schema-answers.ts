// Questions of the reflection protocol and their answers, as bytes: what services there are, and which files name a symbol. Both versions of the protocol say the
// same. An answer is put together from files as they were compiled, so that it costs little more than its bytes.
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { status } from "@grpc/grpc-js";
import { eachField } from "../descriptor-set.ts";
import type { SchemaIndex } from "./schema-index.ts";

/** Members of ServerReflectionRequest. */
const asked = { host: 1, file: 3, symbol: 4, extension: 5, extensions: 6, services: 7 } as const;
/** Members of ServerReflectionResponse. */
const answered = { host: 1, question: 2, files: 4, extensions: 5, services: 6, error: 7 } as const;

/** Throws for bytes that are no question. */
export function answerAbout(schema: SchemaIndex, services: readonly string[], question: Uint8Array): Buffer {
  let host = "";
  let number = 0;
  let text = "";
  let extended: Uint8Array | undefined;
  eachField(question, (field, reader) => {
    if (field === asked.host) host = reader.string();
    else if (field === asked.extension) [number, extended] = [field, reader.bytes()];
    else if (field >= asked.file && field <= asked.services) [number, text] = [field, reader.string()];
    else return false;
    return true;
  });
  const writer = new BinaryWriter();
  if (host !== "") writer.tag(answered.host, WireType.LengthDelimited).string(host);
  writer.tag(answered.question, WireType.LengthDelimited).bytes(question);
  const [member, bytes] = answerTo(schema, services, { number, text, extended });
  writer.tag(member, WireType.LengthDelimited).bytes(bytes);
  const whole = writer.finish();
  return Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
}

interface Question {
  readonly number: number;
  readonly text: string;
  readonly extended: Uint8Array | undefined;
}

function answerTo(
  schema: SchemaIndex,
  services: readonly string[],
  { number, text, extended }: Question,
): readonly [member: number, bytes: Uint8Array] {
  if (number === asked.services) return [answered.services, listOf(services)];
  if (number === asked.file) return filesOr(schema.byName(text), `Proto file not found: ${text}`);
  if (number === asked.symbol) return filesOr(schema.bySymbol(text), `Symbol not found: ${text}`);
  if (extended !== undefined && number === asked.extension) {
    const [of, at] = extensionAsked(extended);
    return filesOr(schema.byExtension(of, at), `Extension not found for symbol ${of} at field ${at}`);
  }
  if (number === asked.extensions) {
    const numbers = schema.extensionsOf(text);
    if (numbers === undefined) return error(status.NOT_FOUND, `Extensions not found for symbol ${text}`);
    const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(text);
    for (const one of numbers) writer.tag(2, WireType.Varint).int32(one);
    return [answered.extensions, writer.finish()];
  }
  return error(status.UNIMPLEMENTED, "This question about the schema is not known here.");
}

function listOf(services: readonly string[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const name of services) {
    const named = new BinaryWriter().tag(1, WireType.LengthDelimited).string(name).finish();
    writer.tag(1, WireType.LengthDelimited).bytes(named);
  }
  return writer.finish();
}

function filesOr(files: readonly Uint8Array[] | undefined, missing: string): readonly [number, Uint8Array] {
  if (files === undefined) return error(status.NOT_FOUND, missing);
  const writer = new BinaryWriter();
  for (const bytes of files) writer.tag(1, WireType.LengthDelimited).bytes(bytes);
  return [answered.files, writer.finish()];
}

function error(code: number, sentence: string): readonly [number, Uint8Array] {
  const writer = new BinaryWriter().tag(1, WireType.Varint).int32(code);
  return [answered.error, writer.tag(2, WireType.LengthDelimited).string(sentence).finish()];
}

function extensionAsked(bytes: Uint8Array): readonly [extended: string, number: number] {
  let extended = "";
  let number = 0;
  eachField(bytes, (field, reader) => {
    if (field === 1) extended = reader.string();
    else if (field === 2) number = reader.int32();
    else return false;
    return true;
  });
  return [extended, number];
}
