// Whether every declaration that names what is somebody's says whose that must be (docs/decisions/0086-ownership-is-declared.md).
import { type Operation, operations, whoseOf } from "../../contracts/src/authority.ts";
import { foreignPublishers } from "../../contracts/src/foreign-events.ts";
import { gatewayOperations } from "../../contracts/src/gateway-operations.ts";
import { namedByProcedures, procedureOperations, sharedRows } from "../../contracts/src/generated/authority.ts";
import type { Whose } from "../../contracts/src/ownership/whose.ts";
import { eventByName } from "../../contracts/src/subjects.ts";

export interface Declared {
  readonly name: string;
  readonly whose: readonly Whose[];
  /** Whether a machine may call it, or publish it. */
  readonly forMachines: boolean;
  /** The fields that it has, whatever they name. */
  readonly fields: readonly string[];
}

const ofFunds = new Set(["fund_id", "strategy_id", "subject_id"]);
const ofOthers = new Set(["nav", "price"]);
const isNaming = (field: string): boolean => ofFunds.has(field) || ofOthers.has(field) || field.endsWith("order_id");

/** What is wrong with a declaration, as a sentence; nothing when it says whose all is that it names. */
export function ownershipComplaint({ name, whose, forMachines, fields }: Declared): string | undefined {
  const naming = [...new Set(fields.filter(isNaming))];
  if (naming.length === 0) return undefined;
  const names = `${name} names ${naming.join(", ")}`;
  if (whose.length === 0) return `${names} and does not say whose that must be: add \`whose\` to its declaration`;
  const isGuarded = whose.includes("fund") || whose.includes("every_fund");
  if (!forMachines || isGuarded || !naming.some((field) => ofFunds.has(field))) return undefined;
  return `${names}, and any token may: say \`fund\`, or \`every_fund\` where it tells of all funds alike`;
}

/** Of a generated document of the HTTP interface, as far as fields are found in it. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: unknown;
}

export function everyDeclaration(api: ApiDocument): readonly Declared[] {
  return [...ofProcedures(), ...ofRoutes(api), ...ofForeignEvents()];
}

function ofProcedures(): readonly Declared[] {
  const byOperation = new Map<string, string[]>();
  for (const [procedure, { request, answer }] of Object.entries(namedByProcedures)) {
    const operation = sharedRows[procedure] ?? procedure.slice(procedure.indexOf("/") + 1);
    const fields = [...request, ...answer].map((path) => path.slice(path.lastIndexOf(".") + 1));
    byOperation.set(operation, [...(byOperation.get(operation) ?? []), ...fields]);
  }
  return (Object.keys(procedureOperations) as Operation[])
    .filter((operation) => !("internal" in operations[operation]))
    .map((operation) => declaredOf(operation, byOperation.get(operation) ?? []));
}

/** The gateway's own, by what its routes take and answer. */
function ofRoutes(api: ApiDocument): readonly Declared[] {
  const methods = Object.entries(api.paths).flatMap(([path, on]) =>
    Object.values(on).map((one) => ({ ...(one as { readonly operationId?: string }), path })),
  );
  return (Object.keys(gatewayOperations) as (keyof typeof gatewayOperations)[]).map((operation) => {
    const routes = Object.keys(gatewayOperations[operation].routes);
    const own = methods.filter(({ operationId }) => routes.includes(operationId ?? ""));
    return declaredOf(
      operation,
      own.flatMap((one) => fieldsIn(one, api)),
    );
  });
}

function declaredOf(operation: Operation, fields: readonly string[]): Declared {
  const { allowed } = operations[operation];
  const forMachines = typeof allowed !== "string" && (allowed as readonly string[]).includes("service");
  return { name: operation, whose: whoseOf(operation), forMachines, fields };
}

function ofForeignEvents(): readonly Declared[] {
  return foreignPublishers
    .flatMap(({ subjects }) => subjects)
    .map((name) => {
      const event = eventByName(name);
      const { shape = {} } = (event?.schema ?? {}) as { readonly shape?: object };
      return { name, whose: event?.whose ?? [], forMachines: true, fields: Object.keys(shape) };
    });
}

/** The names of parameters and of members of bodies, what is referred to included. */
function fieldsIn(value: unknown, api: ApiDocument, seen = new Set<unknown>()): readonly string[] {
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  if (Array.isArray(value)) return value.flatMap((one) => fieldsIn(one, api, seen));
  const { name, in: place, properties, $ref } = value as Readonly<Record<string, unknown>>;
  const parameter = typeof name === "string" && typeof place === "string" ? [name] : [];
  const members = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const referred = typeof $ref === "string" ? fieldsIn(at($ref, api), api, seen) : [];
  return [...parameter, ...members, ...referred, ...Object.values(value).flatMap((one) => fieldsIn(one, api, seen))];
}

function at(reference: string, api: ApiDocument): unknown {
  return reference
    .replace("#/", "")
    .split("/")
    .reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name], api);
}
