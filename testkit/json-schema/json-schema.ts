// JSON Schema as far as descriptions of our interfaces use it.
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

export type Schemas = Readonly<Record<string, JsonSchema>>;

const prefix = "#/components/schemas/";

export function nameOfReference(reference: string): string {
  return reference.startsWith(prefix) ? reference.slice(prefix.length) : "";
}

export function referenceTo(name: string): string {
  return `${prefix}${name}`;
}

/** The schema itself, where it is one by name. */
export function resolved(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const found = schema.$ref === undefined ? undefined : schemas[nameOfReference(schema.$ref)];
  return found === undefined ? schema : resolved(found, schemas);
}
