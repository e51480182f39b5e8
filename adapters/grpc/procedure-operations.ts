// Which row of the table of authority guards which path of a gRPC server. A procedure is guarded by the row of its own name, or by
// the one that its declaration names. What has no row cannot be served at all: that is found when a server starts.
import { isOperation, type Operation, operations } from "../../contracts/src/authority.ts";
import { Defect } from "../../contracts/src/fault.ts";
import { sharedRows } from "../../contracts/src/generated/authority.ts";
import type { DescribedService } from "./descriptor-set.ts";
import { healthServiceName } from "./health-service.ts";
import { reflectionPaths } from "./reflection.ts";

/** The services that come from libraries, and are not in our protos. */
const healthPaths: readonly (readonly [string, Operation])[] = [
  [`/${healthServiceName}/Check`, "ReadHealth"],
  [`/${healthServiceName}/Watch`, "ReadHealth"],
];
const schemaPaths = reflectionPaths.map((path) => [path, "ReadSchema"] as const);

/** Without reflection its paths are no paths: they have no row, as everything that does not exist. */
export function operationsByPath(
  services: readonly DescribedService[],
  hasReflection: boolean,
): ReadonlyMap<string, Operation> {
  const ours = services.flatMap((service) =>
    service.methods.map((method) => [method.path, operationOf(service.name, method.name)] as const),
  );
  return new Map([...healthPaths, ...(hasReflection ? schemaPaths : []), ...ours]);
}

/** By their names in the protos, the package left out. */
export function operationOf(service: string, procedure: string): Operation {
  const name = sharedRows[`${service}/${procedure}`] ?? procedure;
  if (!isOperation(name)) throw new Defect(`${service}/${procedure} has no row in the table of authority.`);
  // Handlers are promised a caller who proved who they are.
  if (operations[name].allowed === "anyone") throw new Defect(`${service}/${procedure} would be open to anyone.`);
  return name;
}
