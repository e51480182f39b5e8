// What listens on TCP in this start, as the keys say it.

import type { Path } from "../schema-tree.ts";
import { valueAt } from "../tree.ts";
import { hostAndPortOf, isHostAndPort } from "../value-forms.ts";
import { type CheckInput, effective } from "./check-input.ts";

export interface Listener {
  /** The key that says its port. */
  readonly path: Path;
  /** The key that says its host. */
  readonly hostPath: Path;
  readonly host: string;
  readonly port: number;
}

/** Everything that listens on TCP here: of the services that run here only. */
export function listenersHere(input: CheckInput): readonly Listener[] {
  const services = effective(input, ["services"]);
  const runs = (name: string): boolean => Array.isArray(services) && services.includes(name);
  const listeners: Listener[] = [];
  const add = (path: Path, hostPath: Path, host: unknown, port: unknown): void => {
    if (typeof host === "string" && typeof port === "number") listeners.push({ path, hostPath, host, port });
  };
  const addPort = (section: string, name: string): void =>
    add([section, name], [section, "host"], effective(input, [section, "host"]), effective(input, [section, name]));
  const addService = (name: string, otherwise?: string): void => {
    if (!runs(name)) return;
    const address = valueAt(input.tree, ["rpc", name]);
    if (typeof address === "string" && isHostAndPort(address)) {
      const { host, port } = hostAndPortOf(address);
      add(["rpc", name], ["rpc", name], host, port);
    } else if (address === undefined && otherwise !== undefined) addPort("grpc", otherwise);
  };
  if (runs("gateway")) for (const name of ["port", "public_port"]) addPort("http", name);
  addService("riskengine", "port");
  addService("operations", "operations_port");
  for (const name of ["oms", "treasury", "research"]) addService(name);
  return listeners;
}
