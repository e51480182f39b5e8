// The operations of the served documents, each with what its answers may be.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import type { JsonSchema, Schemas } from "../json-schema/json-schema.ts";

interface Content {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
}

export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
  readonly security?: readonly object[];
  readonly servers?: readonly object[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
  };
}

export interface FuzzedOperation {
  readonly name: string;
  readonly baseUrl: string;
  readonly method: string;
  readonly path: string;
  readonly needsToken: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | undefined;
  readonly bodyExample: unknown;
  readonly schemas: Schemas;
  readonly isStream: boolean;
  /** Whether a body is one that the description accepts. */
  acceptsBody(body: unknown): boolean;
  /** Why an answer is not one that the description allows; undefined when it is. */
  complaint(status: number, type: string, text: string): string | undefined;
}

export async function operationsOf(baseUrl: string, prefix: string): Promise<readonly FuzzedOperation[]> {
  const document = (await (await fetchOnNewConnection(`${baseUrl}/v1/openapi.json`)).json()) as Document;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
  ajv.addSchema({ $id: "document", components: document.components });
  const compiled = new Map<string, ValidateFunction>();
  const validatorOf = (schema: JsonSchema): ValidateFunction => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const found = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
    compiled.set(text, found);
    return found;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // What the operators' document says of the other port is in that port's own.
      .filter(([, operation]) => operation.servers === undefined)
      .map(([method, operation]) => fuzzed({ baseUrl, prefix, path, method, operation, document, validatorOf })),
  );
}

function fuzzed(given: {
  readonly baseUrl: string;
  readonly prefix: string;
  readonly path: string;
  readonly method: string;
  readonly operation: Described;
  readonly document: Document;
  readonly validatorOf: (schema: JsonSchema) => ValidateFunction;
}): FuzzedOperation {
  const { baseUrl, prefix, path, method, operation, document, validatorOf } = given;
  const content = operation.requestBody?.content["application/json"];
  const types = Object.values(operation.responses).flatMap((response) => Object.keys(response.content ?? {}));
  const contentsOf = (status: number) => {
    const response = operation.responses[String(status)] ?? operation.responses["default"];
    const shared =
      response?.$ref === undefined ? response : document.components.responses[response.$ref.split("/").at(-1) ?? ""];
    return shared === undefined ? undefined : (shared.content ?? {});
  };
  return {
    name: `${prefix} ${operation.operationId}`,
    baseUrl,
    method: method.toUpperCase(),
    path,
    needsToken: (operation.security ?? []).length > 0,
    parameters: operation.parameters ?? [],
    body: content?.schema,
    bodyExample: content?.example,
    schemas: document.components.schemas,
    isStream: types.includes("text/event-stream"),
    acceptsBody: (body) => content?.schema !== undefined && validatorOf(content.schema)(body) === true,
    complaint: (status, type, text) => complaintOf(contentsOf(status), validatorOf, status, type, text),
  };
}

function complaintOf(
  contents: Readonly<Record<string, Content>> | undefined,
  validatorOf: (schema: JsonSchema) => ValidateFunction,
  status: number,
  type: string,
  text: string,
): string | undefined {
  if (contents === undefined) return `the status ${status} is not described`;
  const plain = type.split(";")[0]?.trim() ?? "";
  if (Object.keys(contents).length === 0) return text === "" ? undefined : "a body came where none is described";
  const content = contents[plain];
  if (content === undefined)
    return `${status} came as ${JSON.stringify(plain)}, described is ${Object.keys(contents).join(" or ")}`;
  if (!/\/(?:problem\+)?json$/.test(plain) || content.schema === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What cannot be read is the complaint.
    return `${status} came with what is no JSON`;
  }
  const validate = validatorOf(content.schema);
  if (validate(value) !== true) {
    const [first] = validate.errors ?? [];
    return `${status} is not as described: ${first?.instancePath ?? ""} ${first?.message ?? ""}`;
  }
  const reported = (value as { readonly status?: unknown }).status;
  return status >= 400 && reported !== status
    ? `the problem says ${String(reported)} in an answer of ${status}`
    : undefined;
}
