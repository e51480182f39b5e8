// What a declared message is in an HTTP answer: its schema, and its value. On the wire what is not there is an empty text or zero; in JSON it is
// not there, or null where the declaration says so.
import { z } from "zod";
import type { FieldShape, MessageShape } from "../../../contracts/src/declared.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import { shapes } from "../../../contracts/src/generated/shapes.ts";
import { plain } from "../ask-service.ts";
import { jsonSchema } from "./field-schema.ts";
import { recordAnswers } from "./records.ts";

export function shapeOf(message: string): MessageShape {
  const shape = shapes[message];
  if (shape === undefined) throw new Defect(`No route takes or answers the message ${message}.`);
  return shape;
}

const named = new Map<string, z.ZodType>();

/** The schema of a whole message: a component of that name in OpenAPI, and therefore one object however often it is asked for. */
export function messageAnswer(message: string): z.ZodType {
  const known = recordAnswers[message] ?? named.get(message);
  if (known !== undefined) return known;
  const made = objectAnswer(message).meta({ id: message });
  named.set(message, made);
  return made;
}

/** The same for a message that is no record, for an answer that has more members than the message. */
export function objectAnswer(message: string): z.ZodObject {
  const { fields, description, isRequest } = shapeOf(message);
  const shown = fields.filter(({ hidden }) => !hidden);
  const members = shown.map((field) => [field.name, memberAnswer(field, isRequest === true)] as const);
  const object = z.object(Object.fromEntries(members));
  return description === undefined ? object : object.meta({ description });
}

/** The schema of one of its members alone. */
export function fieldAnswer(message: string, name: string): z.ZodType {
  const field = shapeOf(message).fields.find((one) => one.name === name);
  if (field === undefined) throw new Defect(`${message} has no field ${name}.`);
  return described(valueAnswer(field, false), field);
}

function memberAnswer(field: FieldShape, isAsked: boolean): z.ZodType {
  const value = valueAnswer(field, isAsked);
  if (field.nullWhenAbsent) return described(value.nullable(), field);
  const isOptional = field.optional ?? field.omitEmpty ?? field.mayBeMissing;
  return described(isOptional ? value.optional() : value, field);
}

function described(schema: z.ZodType, { description, example }: FieldShape): z.ZodType {
  if (description === undefined && example === undefined) return schema;
  return schema.meta({
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
  });
}

function valueAnswer(field: FieldShape, isAsked: boolean): z.ZodType {
  // A message may be both asked and answered: how long a text may be binds only the caller; what was kept is shown however long it is.
  const one = field.message === undefined ? jsonSchema(field, !isAsked) : messageAnswer(field.message);
  if (!field.list) return one;
  return field.maxCount === undefined ? z.array(one) : z.array(one).max(field.maxCount);
}

/** A whole message as the JSON of an HTTP answer. */
export function jsonMessage(message: string, value: object): object {
  if (recordAnswers[message] !== undefined) return plain(value);
  const members = value as Readonly<Record<string, unknown>>;
  const shown = shapeOf(message).fields.flatMap((field): [string, unknown][] => {
    const inner = jsonField(field, members[field.name]);
    return inner === undefined ? [] : [[field.name, inner]];
  });
  return plain(Object.fromEntries(shown));
}

/** One of its members alone as that JSON. */
export function jsonMember(message: string, name: string, value: object): object {
  const field = shapeOf(message).fields.find((one) => one.name === name);
  const inner = field === undefined ? undefined : jsonField(field, (value as Readonly<Record<string, unknown>>)[name]);
  if (typeof inner !== "object" || inner === null) throw new Defect(`${message} has no ${name} to answer with.`);
  return plain(inner);
}

function jsonField(field: FieldShape, value: unknown): unknown {
  if (field.hidden || (field.omitEmpty && (value === "" || value === 0))) return undefined;
  if (value === undefined) return field.nullWhenAbsent ? null : undefined;
  const { message, list } = field;
  if (message === undefined || value === null) return value;
  if (!list) return jsonMessage(message, value);
  return (value as readonly object[]).map((one) => jsonMessage(message, one));
}
