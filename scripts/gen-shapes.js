// The shapes of messages as HTTP has them, from their fields, the fields' options and comments.
import { getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { commentOf, DeclarationError, pathOfField, pathOfMessage } from "./declaration.js";

/** Every message that a route takes or answers, and those inside them, by name. */
export function shapesOf(registry, files, procedures, routes) {
  const byName = new Map(files.flatMap((file) => file.messages.map((message) => [message.name, { file, message }])));
  const requests = new Set(procedures.map(({ method }) => method.input.name));
  const shapes = new Map();
  const add = (name) => {
    const found = byName.get(name);
    if (found === undefined || shapes.has(name)) return;
    // Its place is taken before its members are read, which may name it again.
    shapes.set(name, undefined);
    const shape = shapeOf(registry, found.file, found.message, requests.has(name));
    shapes.set(name, shape);
    for (const field of shape.fields) if (field.message !== undefined) add(field.message);
  };
  for (const { request, answer } of routes) {
    add(request);
    add(answer);
  }
  return new Map([...shapes].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function shapeOf(registry, file, message, isRequest) {
  const { atLeastOneOf } = getOption(message, registry.getExtension("portcullis.v1.message"));
  const description = commentOf(file, pathOfMessage(file, message));
  const fields = message.fields.map((field) => fieldOf(registry, file, message, field));
  const unknown = atLeastOneOf.find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) throw new DeclarationError(`${message.name} asks for ${unknown}, and has no such field`);
  return {
    ...(description === "" ? {} : { description }),
    ...(isRequest ? { isRequest } : {}),
    ...(atLeastOneOf.length === 0 ? {} : { atLeastOneOf }),
    fields,
  };
}

const kinds = "KIND ID SYMBOL CURRENCY DECIMAL INSTANT DATE MOMENT LINE HASH COUNT FACTS PROOF".split(" ");
const flags = [
  ...[
    "required",
    "positive",
    "nonNegative",
    "omitEmpty",
    "nullWhenAbsent",
    "mayBeMissing",
    "answerOnly",
    "hidden",
    "typed",
  ],
];
const bounds = ["minLength", "maxLength", "maxCount", "min", "max", "above", "below"];
const words = ["pattern", "expected", "example", "asItIs"];

function fieldOf(registry, file, message, field) {
  const extension = registry.getExtension("portcullis.v1.field");
  const option = getOption(field, extension);
  const place = `${file.proto.name}: ${message.name}.${field.name}`;
  const description =
    option.description === "" ? commentOf(file, pathOfField(file, message, field)) : option.description;
  const type = typeOf(place, field);
  const shape = {
    name: field.name,
    ...(option.name === "" ? {} : { httpName: option.name }),
    ...type,
    ...(field.fieldKind === "list" ? { list: true } : {}),
    ...(field.proto.proto3Optional ? { optional: true } : {}),
    ...(description === "" ? {} : { description }),
    ...(option.kind === 0 ? {} : { kind: kinds[option.kind] }),
    ...Object.fromEntries(flags.filter((name) => option[name]).map((name) => [name, true])),
    ...Object.fromEntries(bounds.filter((name) => isGiven(option, name)).map((name) => [name, option[name]])),
    ...Object.fromEntries(words.filter((name) => option[name] !== "").map((name) => [name, option[name]])),
    ...(option.values.length === 0 ? {} : { values: option.values }),
    ...(option.whenAbsent === "" ? {} : { whenAbsent: JSON.parse(option.whenAbsent) }),
  };
  if (hasOption(field, extension)) checkField(place, shape);
  return shape;
}

/** Of every message that some procedure is asked with, and of those inside it: the fields that could hold any amount. */
export function boundsOf(registry, procedures) {
  const bounds = new Map();
  const add = (message) => {
    if (bounds.has(message.name)) return;
    // Its place is taken before its members are read, which may name it again.
    bounds.set(message.name, []);
    for (const field of message.fields) if (isMessage(field)) add(field.message);
    bounds.set(
      message.name,
      message.fields.flatMap((field) => boundedField(registry, bounds, field) ?? []),
    );
  };
  for (const { method } of procedures) add(method.input);
  return new Map(
    [...bounds].filter(([, fields]) => fields.length > 0).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

const isFree = (field) => field.message?.typeName === "google.protobuf.Struct";
const isMessage = (field) => field.message !== undefined && field.fieldKind !== "map" && !isFree(field);

function boundedField(registry, bounds, field) {
  const { maxCount, maxLength, answerOnly } = getOption(field, registry.getExtension("portcullis.v1.field"));
  const place = { number: field.number, name: field.name };
  const most = maxCount === undefined ? {} : { most: maxCount };
  if (isFree(field))
    return { ...place, form: "free", ...most, ...(maxLength === undefined ? {} : { characters: maxLength }) };
  if (field.fieldKind === "map") return { ...place, form: "map", ...most };
  const inner =
    isMessage(field) && bounds.get(field.message.name).length > 0 ? { message: field.message.name } : undefined;
  if (field.fieldKind === "list") return { ...place, form: "list", ...most, ...inner };
  if (inner !== undefined) return { ...place, form: "message", ...inner };
  return maxLength === undefined || answerOnly ? undefined : { ...place, form: "text", most: maxLength };
}

const isGiven = (option, name) => Object.hasOwn(option, name) && option[name] !== undefined;

function typeOf(place, field) {
  const { fieldKind, listKind } = field;
  const kind = fieldKind === "list" ? listKind : fieldKind;
  if (kind === "map") return { type: "map", ...(field.scalar === ScalarType.STRING && { ofTexts: true }) };
  if (kind === "enum") {
    const named = field.enum.values.map(({ name }) => name).filter((name) => !name.endsWith("_UNSPECIFIED"));
    return { type: "word", values: named };
  }
  if (kind === "message") {
    if (field.message.typeName === "google.protobuf.Struct") return { type: "struct" };
    return { type: "message", message: field.message.name };
  }
  const types = {
    [ScalarType.STRING]: "text",
    [ScalarType.DOUBLE]: "number",
    [ScalarType.BOOL]: "boolean",
    [ScalarType.BYTES]: "bytes",
    [ScalarType.UINT32]: "whole",
    [ScalarType.UINT64]: "whole",
  };
  const type = types[field.scalar];
  if (type === undefined) throw new DeclarationError(`${place} has a type that HTTP has no form for`);
  return { type };
}

/** A constraint that does not go with the field's type would be a rule that nobody keeps. */
function checkField(place, shape) {
  const { type, kind, pattern, whenAbsent, required, optional } = shape;
  const isText = type === "text" || type === "word";
  const about = (names) => names.find((name) => shape[name] !== undefined);
  const misplaced =
    (isText
      ? about(["min", "max", "above", "below"])
      : about(["minLength", ...(type === "struct" ? [] : ["maxLength"]), "pattern", "positive", "typed"])) ??
    (kind !== undefined && !isText && type !== "struct" && type !== "whole" ? "kind" : undefined) ??
    (shape.list || type === "map" || type === "struct" ? undefined : about(["maxCount"]));
  if (misplaced !== undefined) throw new DeclarationError(`${place} says ${misplaced}, which a ${type} cannot have`);
  if (pattern !== undefined && shape.expected === undefined) {
    throw new DeclarationError(`${place} has a pattern and does not say what was expected`);
  }
  if (shape.typed && shape.asItIs !== undefined) {
    throw new DeclarationError(`${place} is typed by people, so it is not taken as it is`);
  }
  if (required && (optional || whenAbsent !== undefined)) {
    throw new DeclarationError(`${place} is required, so it cannot be absent`);
  }
}
