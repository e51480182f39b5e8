// Holds lines of JSON against CAT's published schema: required, unknown and mistyped fields, lengths, digits and words.

interface SchemaField {
  readonly name: string;
  readonly dataType: string;
  readonly JSONDataType: string | readonly string[];
  readonly required: string;
}

interface SchemaType {
  readonly dataType: string;
  readonly precision?: number;
  readonly scale?: number;
  readonly maxLength?: number;
  readonly allowedValues?: readonly unknown[];
}

export interface CatSchema {
  readonly version: string;
  readonly dataTypes: readonly SchemaType[];
  readonly eventDefinitions: readonly { readonly eventName: string; readonly fields: readonly SchemaField[] }[];
  readonly choices: Readonly<Record<string, readonly (string | { readonly value?: string })[]>>;
  readonly nameValuePairDefinitions: readonly {
    readonly nameValuePair: string;
    readonly fields: readonly SchemaField[];
  }[];
}

const namesOfTypes: Readonly<Record<string, string>> = {
  string: "STRING",
  number: "NUMBER",
  boolean: "BOOLEAN",
  object: "OBJECT",
};

/** A sentence for each thing that is wrong, with the field first. */
export function catMistakes(schema: CatSchema, line: string): readonly string[] {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch (thrown) {
    return [`the line is no JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`];
  }
  if (typeof record !== "object" || record === null || Array.isArray(record)) return ["the line is no object"];
  const { type } = record as { readonly type?: unknown };
  const event = schema.eventDefinitions.find(({ eventName }) => eventName === type);
  if (event === undefined) return [`type: ${JSON.stringify(type)} is no event`];
  return fieldMistakes(schema, event.fields, record as Readonly<Record<string, unknown>>, "");
}

function fieldMistakes(
  schema: CatSchema,
  fields: readonly SchemaField[],
  record: Readonly<Record<string, unknown>>,
  path: string,
): readonly string[] {
  const mistakes: string[] = [];
  for (const field of fields) {
    if (field.required === "Required" && !Object.hasOwn(record, field.name))
      mistakes.push(`${path}${field.name}: it is missing`);
  }
  for (const [name, value] of Object.entries(record)) {
    const field = fields.find((one) => one.name === name);
    if (field === undefined) mistakes.push(`${path}${name}: there is no such field`);
    else mistakes.push(...valueMistakes(schema, field, value, path));
  }
  return mistakes;
}

function valueMistakes(schema: CatSchema, field: SchemaField, value: unknown, path: string): readonly string[] {
  const { name, dataType } = field;
  const wrong = (what: string): readonly string[] => [`${path}${name}: ${what}`];
  const taken = Array.isArray(field.JSONDataType) ? field.JSONDataType : [field.JSONDataType];
  const is = Array.isArray(value) ? "ARRAY" : (namesOfTypes[typeof value] ?? "NULL");
  if (!taken.includes(is)) return wrong(`it is ${is} and not ${taken.join(" or ")}`);
  if (dataType === "Choice") {
    const words = (schema.choices[name] ?? []).map((word) => (typeof word === "string" ? word : word.value));
    return words.includes(value as string) ? [] : wrong(`${JSON.stringify(value)} is none of its words`);
  }
  if (dataType === "Name/Value Pairs") {
    const pairs = schema.nameValuePairDefinitions.find(({ nameValuePair }) => nameValuePair === name)?.fields ?? [];
    return fieldMistakes(schema, pairs, value as Readonly<Record<string, unknown>>, `${path}${name}.`);
  }
  return typeMistakes(schema, dataType, value).flatMap(wrong);
}

function typeMistakes(schema: CatSchema, dataType: string, value: unknown): readonly string[] {
  const [, textLength] = /^(?:Text|Alphanumeric) \((\d+)\)$/.exec(dataType) ?? [];
  const type = schema.dataTypes.find((one) => one.dataType === dataType);
  const lengthMax = textLength === undefined ? type?.maxLength : Number(textLength);
  const mistakes: string[] = [];
  if (typeof value === "string" && lengthMax !== undefined && value.length > lengthMax) {
    mistakes.push(`it has more than ${lengthMax} characters`);
  }
  if (typeof value === "string" && /[^\x20-\x7e]|[,|"@]/.test(value))
    mistakes.push("it holds a character that CAT does not take");
  if (typeof value === "number" && type?.precision !== undefined && type.scale !== undefined) {
    const [whole = "", fraction = ""] = String(value).split(".");
    if (whole.length > type.precision || fraction.length > type.scale) mistakes.push(`${value} has too many digits`);
  }
  if (dataType !== "Message Type" && type?.allowedValues !== undefined && !type.allowedValues.includes(value)) {
    mistakes.push(`${JSON.stringify(value)} is none of its values`);
  }
  if (dataType === "Timestamp" && typeof value === "string" && !/^\d{8}[T ]\d{6}(\.\d{3,9})?$/.test(value)) {
    mistakes.push(`${value} is no time`);
  }
  return mistakes;
}
